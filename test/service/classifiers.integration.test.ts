import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { importFolder } from "../../src/cli/commands/model/import.ts";
import { listModels } from "../../src/cli/commands/model/list.ts";
import { pull } from "../../src/cli/commands/model/pull.ts";
import { ServiceError } from "../../src/errors.ts";
import { createDecider, type DecideRequest, type RankRequest } from "../../src/library/index.ts";
import { HubServer, REPOSITORY, REVISION } from "../hub/hub-server.ts";
import { packageRoot } from "../support/package-root.ts";

const GOLDEN = path.join(packageRoot, "test/golden/classifiers");
/** Of float32 in another order of summation. */
const TOLERANCE = 1e-5;

interface Case {
  readonly systemone?: DecideRequest;
  readonly rank?: RankRequest & { readonly candidates: readonly string[] };
  readonly probabilities: unknown;
}
const EXPECTED: { readonly models: Readonly<Record<string, readonly Case[]>> } = JSON.parse(
  readFileSync(path.join(GOLDEN, "expected.json"), "utf8"),
);

/** Files of a golden model in the layout of Transformers.js. */
function filesOf(name: string): Map<string, Buffer> {
  const folder = path.join(GOLDEN, name);
  return new Map(
    readdirSync(folder).map((file) => [
      file === "model.onnx" ? `onnx/${file}` : file,
      readFileSync(path.join(folder, file)),
    ]),
  );
}

let notes = "";
const stream = {
  isTTY: false,
  columns: 80,
  write: (text: string) => {
    notes += text;
  },
};
const COMMAND = { offlineBy: undefined, isJson: false, stream };
const ENVIRONMENT = { ...process.env };
let home: string;
let hub: HubServer | undefined;

before(async () => {
  home = await mkdtemp(path.join(tmpdir(), "classifiers-"));
});
after(async () => {
  Object.assign(process.env, ENVIRONMENT);
  await rm(home, { recursive: true });
});

/** Puts files on a hub, and the store of this process into an empty folder. */
async function publish(files: ReadonlyMap<string, Buffer>): Promise<HubServer> {
  await hub?.stop();
  notes = "";
  hub = await HubServer.start(files, ["onnx/model.onnx", "onnx/model.onnx_data"]);
  process.env.HF_ENDPOINT = hub.endpoint;
  process.env.XDG_DATA_HOME = await mkdtemp(path.join(home, "data-"));
  process.env.HF_HOME = path.join(home, "hf");
  return hub;
}
after(() => hub?.stop());

for (const [name, cases] of Object.entries(EXPECTED.models))
  describe(`the classifier ${name}`, () => {
    it("is pulled from any repository, and answers as transformers does", async () => {
      await publish(filesOf(name));
      const text = await pull(REPOSITORY, COMMAND);
      assert.match(text, new RegExp(`^${REPOSITORY}@${REVISION}: 4 files`));
      assert.match(notes, /license mit: config\.json \(\d+ bytes\), .*onnx\/model\.onnx \(\d\d\.\d kB\)/);
      assert.match(text, /license: mit\nserve it: decision serve --model acme\/Tiny$/);
      assert.match(await listModels(false), new RegExp(`${REPOSITORY}@${REVISION}`));
      const decider = await createDecider({ model: REPOSITORY });
      try {
        assert.equal(decider.model.id, `${REPOSITORY}@${REVISION}`);
        for (const each of cases) await assertAnswers(decider, each);
      } finally {
        await decider.close();
      }
    });
  });

async function assertAnswers(
  decider: Awaited<ReturnType<typeof createDecider>>,
  { systemone, rank, probabilities }: Case,
) {
  if (rank !== undefined) {
    const { ranked } = await decider.rank(rank);
    const found = rank.candidates.map((_, at) => ranked.find((each) => each.candidate === String(at)));
    assertClose(
      found.map((each) => each?.probability ?? Number.NaN),
      probabilities,
    );
    return;
  }
  assert.ok(systemone !== undefined && typeof probabilities === "object" && probabilities !== null);
  const { answers } = await decider.decide(systemone);
  for (const [question, want] of Object.entries(probabilities)) {
    const answer: unknown = Reflect.get(answers, question);
    assertClose(Object.values(Object(Reflect.get(Object(answer), "probabilities"))), want);
  }
}

function assertClose(found: readonly unknown[], want: unknown) {
  assert.ok(Array.isArray(want));
  assert.equal(found.length, want.length);
  for (const [at, each] of want.entries())
    assert.ok(Math.abs(Number(found[at]) - Number(each)) < TOLERANCE, `${found[at]}, expected ${each}`);
}

describe("a pulled classifier", () => {
  it("costs one pair for a yes/no question, and reads hypotheses as told", async () => {
    await publish(filesOf("bert"));
    await pull(REPOSITORY, { ...COMMAND, wishes: { hypothesis: { choice: "It is {candidate}." } } });
    const decider = await createDecider({ model: REPOSITORY });
    try {
      const yes = { type: "noul", instructions: "This is late." } as const;
      const choice = {
        type: "choice",
        instructions: "ignored",
        criteria: { late: null, soon: null },
      } as const;
      const asked = await decider.decide({ state: "s", questions: { yes } });
      const [pair] = [asked.usage.input_tokens];
      const said = await decider.rank({ state: "s", candidates: ["This is late.", "It is soon."] });
      assert.ok(pair < said.usage.input_tokens);
      const chosen = await decider.decide({ state: "s", questions: { choice } });
      const ranked = await decider.rank({ state: "s", candidates: ["It is late.", "It is soon."] });
      assert.deepEqual(
        Object.values(chosen.answers.choice.scores),
        ["0", "1"].map((at) => ranked.ranked.find(({ candidate }) => candidate === at)?.score),
      );
    } finally {
      await decider.close();
    }
  });

  it("refuses pairs that are longer than its positions, and truncates nothing", async () => {
    await publish(filesOf("bert"));
    await pull(REPOSITORY, COMMAND);
    const decider = await createDecider({ model: REPOSITORY });
    const refused = (loc: readonly (string | number)[], msg: RegExp) => (error: unknown) => {
      assert.ok(error instanceof ServiceError && error.kind === "INVALID_REQUEST", String(error));
      assert.deepEqual(error.issues[0]?.loc, loc);
      assert.match(error.issues[0]?.msg ?? "", msg);
      return error.issues.length === 1;
    };
    const words = (count: number) => "x ".repeat(count).trim();
    try {
      const fits = { state: words(155), candidates: ["x x", "x"] };
      assert.equal((await decider.rank(fits)).usage.input_tokens, 160 + 159);
      const pair = { state: words(156), candidates: ["x x", "x"] };
      await assert.rejects(
        decider.rank(pair),
        refused(
          ["body", "candidates", 0],
          /at most 160 tokens in state, question and candidate together.*got 161\.$/,
        ),
      );
      await assert.rejects(
        decider.rank({ state: words(159), candidates: ["x", "y"] }),
        refused(["body", "state"], /at most 160 tokens in the state, special tokens included, got 161\.$/),
      );
      const question = { type: "noul", instructions: words(200) } as const;
      await assert.rejects(
        decider.decide({ state: "s", questions: { question } }),
        refused(["body", "questions", "question", "instructions"], /in state and question together/),
      );
    } finally {
      await decider.close();
    }
  });

  it("is not fetched again when its commit is named", async () => {
    const { seen } = await publish(filesOf("bert"));
    await pull(REPOSITORY, COMMAND);
    const requests = seen.length;
    assert.match(await pull(`${REPOSITORY}@${REVISION}`, COMMAND), /is already on this machine/);
    assert.equal(seen.length, requests);
  });

  it("is fetched again in part when another commit is asked for, or flags change", async () => {
    const server = await publish(filesOf("bert"));
    await pull(REPOSITORY, COMMAND);
    const before = server.fetches("onnx/model.onnx").length;
    await pull(REPOSITORY, { ...COMMAND, wishes: { hypothesis: { noul: "Yes: {question}" } } });
    assert.equal(server.fetches("onnx/model.onnx").length, before);
  });
});

describe("a pull of another repository", () => {
  const withConfig = (change: object) => {
    const files = filesOf("bert");
    const config = JSON.parse(String(files.get("config.json")));
    return files.set("config.json", Buffer.from(JSON.stringify({ ...config, ...change })));
  };
  const without = (name: string) => {
    const files = filesOf("bert");
    files.delete(name);
    return files;
  };
  const graph = Buffer.from(filesOf("bert").get("onnx/model.onnx") ?? "");
  const renamed = (from: string, to: string) =>
    Buffer.from(graph.toString("latin1").replaceAll(from, to), "latin1");
  const refusals: readonly (readonly [string, ReadonlyMap<string, Buffer>, RegExp, "early"?])[] = [
    ["the layers of embeddings", withConfig({ architectures: ["BertModel"] }), /an embedding or/, "early"],
    [
      "code of its own",
      withConfig({ auto_map: { AutoModel: "x.Y" } }),
      /code of its own .*never run/,
      "early",
    ],
    [
      "a configuration that is no JSON",
      filesOf("bert").set("config.json", Buffer.from("{")),
      /config\.json .* is not JSON/,
      "early",
    ],
    [
      "a graph of other inputs",
      filesOf("bert").set("onnx/model.onnx", renamed("token_type_ids", "other_type_ids")),
      /the input "other_type_ids"/,
    ],
    ["a cut graph", filesOf("bert").set("onnx/model.onnx", graph.subarray(0, 20_000)), /is not an ONNX file/],
    ["no graph", without("onnx/model.onnx"), /has no ONNX file/, "early"],
    ["no tokenizer", without("tokenizer.json"), /has no tokenizer\.json/, "early"],
    [
      "a tokenizer of another kind",
      filesOf("bert").set("tokenizer.json", Buffer.from('{"model":{"type":"WordLevel"}}')),
      /the kind "WordLevel"/,
    ],
    ["a tokenizer of more tokens than the model", withConfig({ vocab_size: 20 }), /but the model knows 20/],
  ];
  for (const [name, files, want, early] of refusals)
    it(`with ${name} is refused`, async () => {
      const server = await publish(files);
      await assert.rejects(pull(REPOSITORY, COMMAND), refusal(want));
      if (early) assert.equal(server.fetches("onnx/model.onnx").length, 0, "the graph was fetched");
      assert.doesNotMatch(await listModels(false), new RegExp(REPOSITORY));
      assert.deepEqual(
        readdirSync(process.env.XDG_DATA_HOME ?? "", { recursive: true }).filter((file) =>
          /\.(json|onnx)$/.test(String(file)),
        ),
        [],
      );
    });

  it("of an unknown name says so", async () => {
    await publish(filesOf("bert"));
    await assert.rejects(pull("acme/Other", COMMAND), refusal(/shows no model acme\/Other without a login/));
    await assert.rejects(pull(`${REPOSITORY}@${"f".repeat(40)}`, COMMAND), refusal(/has no revision ffff/));
    await assert.rejects(pull("nonsense", COMMAND), refusal(/unknown model "nonsense"/));
  });

  it("of a gated model says where to accept its terms", async () => {
    const server = await publish(filesOf("bert"));
    server.token = "hf_right";
    await assert.rejects(
      pull(REPOSITORY, COMMAND),
      refusal(/requires a login \(401.*accept the model's terms/),
    );
  });

  it("whose file differs from its digest is refused", async () => {
    const server = await publish(filesOf("bert"));
    server.swapped.set("onnx/model.onnx", Buffer.alloc(graph.length, 1));
    await assert.rejects(pull(REPOSITORY, COMMAND), refusal(/received twice with the wrong content/));
  });

  it("is forbidden offline", async () => {
    await publish(filesOf("bert"));
    await assert.rejects(
      pull(REPOSITORY, { ...COMMAND, offlineBy: "--offline" }),
      refusal(/--offline forbids downloads/),
    );
  });

  it("of a published model takes no flags of classifiers", async () => {
    await assert.rejects(
      pull("gemmadecision", { ...COMMAND, wishes: { file: "x.onnx" } }),
      refusal(/--file, --labels/),
    );
  });
});

describe("an import", () => {
  it("of a folder of Transformers.js makes a package that answers", async () => {
    const folder = await mkdtemp(path.join(home, "folder-"));
    const to = path.join(home, "package");
    for (const [file, content] of filesOf("roberta"))
      await writeFile(
        path.join(folder, path.basename(file) === "model.onnx" ? "model_any.onnx" : file),
        content,
      );
    const facts = { aliases: [], version: "v1", releaseDate: "2026-11-20" };
    await importFolder(folder, facts, { file: "model_any.onnx", to, mayReplace: false, isJson: false });
    const decider = await createDecider({ modelPath: to });
    try {
      assert.match(decider.model.id, /^local\/folder-/);
      for (const each of EXPECTED.models.roberta ?? []) await assertAnswers(decider, each);
    } finally {
      await decider.close();
    }
  });
});

function refusal(message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.match(error.message, message);
    return true;
  };
}
