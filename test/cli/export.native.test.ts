import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { scoredNodes } from "../../src/backends/tensors/forward.ts";
import type { TensorData } from "../../src/backends/tensors/tensor-data.ts";
import { planWhole } from "../../src/backends/tensors/whole-forwards.ts";
import { wholeInputs } from "../../src/backends/tensors/whole-inputs.ts";
import { wholeGraph } from "../../src/models/architectures/whole-graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { gemma3Folder, gemma3Package, pairTree } from "../support/gemma3-golden.ts";
import { goldenDecisions, tokenTree } from "../support/golden.ts";
import { testedDevice } from "../support/native.ts";
import { embeddedModel, packageRoot } from "../support/package-root.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";
import { inProcess } from "./in-process.ts";

/** As in test/backends/native-scores.native.test.ts. */
const TOLERANCE = { embedded: 1e-5, causal: 2.5e-5, bf16: 0.25 };

const folder = await mkdtemp(path.join(tmpdir(), "export-native-"));
after(() => rm(folder, { recursive: true }));

type Said = Readonly<Record<string, readonly number[] & string>>;
type Request = Readonly<Record<string, TensorData>>;

/** The answers of the exported TritonPythonModel of a package, without Triton. */
async function exported(packageFolder: string, precision: string) {
  const output = await mkdtemp(path.join(folder, "repository-"));
  const { status, stderr } = await inProcess([
    ...["model", "export", "--format", "triton", "--backend", "native", "--name", "m", "--output", output],
    ...["--precision", precision, "--threads", "2", "--model-path", packageFolder],
  ]);
  assert.equal(status, 0, stderr);
  const config = await readFile(path.join(output, "m/config.pbtxt"), "utf8");
  const given = config.matchAll(/^parameters \{ key: "(\w+)" value: \{ string_value: "(\w+)" \} \}$/gm);
  const parameters = Object.fromEntries(
    Array.from(given, ([, key, value]) => [key, { string_value: value }]),
  );
  return (
    requests: readonly Request[],
    outputs = ["scores", "digest"],
    changes: { readonly torch?: string } = {},
  ): readonly Said[] => {
    const asked = requests.map((tensors) => ({ inputs: Object.fromEntries(spell(tensors)), outputs }));
    const program = path.join(packageRoot, "test/support/triton_model.py");
    const said = execFileSync(process.env.DECISION_PYTHON || "python3", [program, path.join(output, "m")], {
      input: JSON.stringify({ device: testedDevice, config: { parameters }, requests: asked, ...changes }),
      encoding: "utf8",
      stdio: "pipe",
      maxBuffer: 2 ** 28,
    });
    return JSON.parse(said);
  };
}

const spell = (tensors: Request) =>
  Object.entries(tensors).map(([name, { type, dims, data }]): [string, object] => [
    name,
    { type, dims, data: Array.from<number | bigint, number>(data, Number) },
  ]);

async function assertGolden(
  packageFolder: string,
  precision: "fp32" | "bf16",
  forest: readonly TokenTree[],
  golden: readonly number[],
  tolerance: number,
) {
  const { shape, digest } = await wholeGraph(await openModelPackage(packageFolder), precision);
  const answer = await exported(packageFolder, precision);
  const { forwards, scored } = planWhole(leavesOfTrees(forest), 4);
  const scores = new Map<unknown, number>();
  const answers = answer(forwards.map((forward) => wholeInputs(forward, shape)));
  for (const [at, forward] of forwards.entries()) {
    assert.equal(answers[at]?.error, undefined);
    assert.deepEqual(answers[at]?.digest, [...digest]);
    for (const [place, node] of scoredNodes(forward).entries())
      scores.set(node, answers[at]?.scores?.[place] ?? Number.NaN);
  }
  for (const [at, node] of scored.entries()) {
    const [score = Number.NaN, want = Number.NaN] = [scores.get(node), golden[at]];
    const error = Math.abs(score - want) / (precision === "fp32" ? Math.max(1, Math.abs(want)) : 1);
    assert.ok(error <= tolerance, `pair ${at}: ${score}, expected ${want}`);
  }
}

const trees = goldenDecisions.map(tokenTree);
const golden = goldenDecisions.flatMap(({ scores }) => scores);

describe("a model in PyTorch for Triton", () => {
  it("gives the embedded model's golden scores, and the digest that the service expects", () =>
    assertGolden(embeddedModel, "fp32", trees, golden, TOLERANCE.embedded));

  it("computes in bf16", () => assertGolden(embeddedModel, "bf16", trees, golden, TOLERANCE.bf16));

  it("gives a causal model's golden scores, wherever a pair is cut into nodes", async () => {
    const { decisions } = await gemma3Package("five-to-one");
    const random = seededRandom(1);
    const forest = decisions.flatMap(({ token_ids: pairs }) =>
      pairs.map((ids) => {
        const stateEnd = random.below(ids.length);
        return pairTree(ids, stateEnd, stateEnd + random.below(ids.length - stateEnd));
      }),
    );
    const wanted = decisions.flatMap(({ scores }) => scores);
    await assertGolden(gemma3Folder("five-to-one"), "fp32", forest, wanted, TOLERANCE.causal);
  });

  it("refuses a PyTorch that is too old", async () => {
    const answer = await exported(embeddedModel, "fp32");
    assert.throws(
      () => answer([], [], { torch: "2.0.1" }),
      /RuntimeError: .* needs PyTorch 2\.1 or later, not 2\.0\.1/,
    );
  });

  it("gives vectors where they are asked for, and refuses tensors that are no trees", async () => {
    const { shape } = await wholeGraph(await openModelPackage(embeddedModel), "fp32");
    const answer = await exported(embeddedModel, "fp32");
    const [forward] = planWhole(leavesOfTrees(trees.slice(0, 1)), 1).forwards;
    assert.ok(forward);
    const whole = wholeInputs(forward, shape);
    const changed = (name: string, at: number, value: number): Request => {
      const { data, ...rest } = whole[name] as TensorData;
      const copy = Array.from<number | bigint, number>(data, Number);
      copy[at] = value;
      return { ...whole, [name]: { ...rest, data: Int32Array.from(copy) } };
    };
    const [told, ...refused] = answer(
      [whole, changed("read_at", 0, 0), changed("read_at", 0, 9_999), changed("query_nodes", 3, 99)],
      ["scores", "vectors"],
    );
    assert.equal(told?.vectors?.length, told?.scores?.length);
    assert.equal(JSON.parse(JSON.stringify(told?.vectors))[0].length, 384);
    assert.match(refused[0]?.error ?? "", /a place to read is not in a candidate/);
    assert.match(refused[1]?.error ?? "", /outside of the tokens/);
    assert.match(refused[2]?.error ?? "", /a node's tokens do not stand together/);
  });
});
