import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Ajv } from "ajv";
import { createDecider, createScorer } from "../../src/library/index.ts";
import { corrected, placesOf } from "../../src/tuning/correction.ts";
import { readTuning, type TuningFile } from "../../src/tuning/tuning-file.ts";
import { Service } from "../service/service.ts";
import { packageRoot } from "../support/package-root.ts";
import { decision } from "./decision.ts";
import { inProcess } from "./in-process.ts";

const folder = mkdtempSync(path.join(tmpdir(), "tune-cli-"));
const file = (name: string) => path.join(folder, name);
const write = (name: string, value: unknown) => writeFileSync(file(name), JSON.stringify(value));
after(() => rmSync(folder, { recursive: true }));

const ANGRY = [
  "This is outrageous!",
  "I am furious with you.",
  "You useless people make me sick.",
  "How dare you!",
];
const CALM = [
  "Thank you very much.",
  "All is well, no hurry.",
  "Where can I find the manual?",
  "Have a nice day.",
];
const PARTS = [
  "My parcel came today.",
  "It is about the invoice.",
  "I wrote to you before.",
  "This is my order 5512.",
];
const questions = {
  upset: { type: "noul", instructions: "The customer is angry." },
  topic: { type: "choice", instructions: "What is it about?", criteria: { parcel: null, other: null } },
} as const;
/** The labels are the wrong way round: a correction has much to learn, on any machine. */
const rows = ANGRY.concat(CALM).flatMap((first, at) =>
  PARTS.map((second) => ({ state: `${second} ${first}`, labels: { upset: at >= ANGRY.length } })),
);

const flags = (input: string, ...more: string[]) =>
  [
    "tune",
    "--questions",
    file("questions.json"),
    "--input",
    file(input),
    "--output",
    file("tuning.json"),
    ...more,
  ] as const;

describe("decision tune", () => {
  let tuning: TuningFile;
  let tuned: unknown;
  before(() => {
    write("questions.json", { upset: questions.upset });
    write("both.json", questions);
    const lines = (list: readonly object[]) => list.map((row) => `${JSON.stringify(row)}\n`).join("");
    writeFileSync(file("few.jsonl"), lines(rows.slice(14, 18)));
    writeFileSync(file("rows.jsonl"), lines(rows));
    writeFileSync(file("wrong.jsonl"), '{"state":"x","labels":{"upset":"maybe"}}\n');
  });

  it("writes nothing from too few rows, and says so", async () => {
    const { status, stdout } = await inProcess(flags("few.jsonl"));
    assert.equal(status, 1, stdout);
    assert.match(stdout, /upset: left as it is\n/);
    assert.match(stdout, /Too few rows: below 20 different states/);
    assert.match(stdout, /Nothing is written/);
    assert.ok(!existsSync(file("tuning.json")));
  });

  it("writes a file that fits its schema, with what it reaches on other rows", async () => {
    const { status, stdout, stderr } = await inProcess(flags("rows.jsonl", "--json"));
    assert.equal(status, 0, stderr);
    const report = JSON.parse(stdout);
    const [{ name, isKept, kind, before: then, after: now }] = report.questions;
    assert.deepEqual([report.rows, report.isWritten, name, isKept], [rows.length, true, "upset", true]);
    assert.ok(then.accuracy < 0.3 && now.accuracy > 0.7, stdout);
    const text = readFileSync(file("tuning.json"), "utf8");
    tuning = readTuning(text, "tuning.json");
    const schema = JSON.parse(readFileSync(path.join(packageRoot, "generated/tuning.schema.json"), "utf8"));
    assert.ok(new Ajv().validate(schema, JSON.parse(text)));
    assert.deepEqual(tuning.questions[0]?.measured, {
      rows: rows.length,
      folds: 5,
      before: then,
      after: now,
    });
    assert.equal(tuning.questions[0]?.kind, kind);
    assert.ok(!/order|parcel|angry/i.test(text), "no text of rows or instructions");
  });

  it("is served: the same numbers from scores and vectors, by the library and by decide", async () => {
    const [state] = rows.map((row) => row.state);
    const body = JSON.stringify({ state, questions });
    const scorer = await createScorer({}, { hasVectors: true });
    const [raw] = await scorer.score(body).finally(() => scorer.close());
    const [own] = tuning.questions;
    assert.ok(raw && own);
    const wanted = corrected(own, placesOf(own, raw.labels) ?? assert.fail(), raw.scores, raw.vectors);

    await using decider = await createDecider({ tuning: [file("tuning.json")], cacheSize: 100 });
    const answers = JSON.parse(await decider.ask("systemone", body)).answers;
    assert.deepEqual(Object.values(answers.upset.scores), [...wanted]);
    const [upset, topic] = [JSON.stringify(answers.upset), JSON.stringify(answers.topic)];
    const again = JSON.parse(await decider.ask("systemone", body));
    assert.deepEqual([JSON.stringify(again.answers.upset), again.usage.cached_pairs], [upset, 4]);
    const right = await Promise.all(
      rows.map(async (row) => {
        const request = { state: row.state, questions: { other: questions.upset } } as const;
        const { other } = JSON.parse(await decider.ask("systemone", JSON.stringify(request))).answers;
        return other.noul >= 0.5 === row.labels.upset;
      }),
    );
    const share = right.filter(Boolean).length / right.length;
    assert.ok(share >= own.measured.after.accuracy - 0.1, `${share}, ${own.measured.after.accuracy}`);

    const { stdout, stderr } = await inProcess(
      ["decide", "--state", state ?? "", "--questions", file("both.json"), "--json"],
      { env: { DECISION_TUNING: file("tuning.json") } },
    );
    const told = JSON.parse(stdout || assert.fail(stderr)).answers;
    tuned = told;
    assert.equal(JSON.stringify(told.upset), upset);
    assert.equal(JSON.stringify(told.topic), topic);
    await using plain = await createDecider();
    const untuned = JSON.parse(await plain.ask("systemone", body)).answers;
    assert.equal(JSON.stringify(untuned.topic), topic, "to the last bit");
    assert.notEqual(JSON.stringify(untuned.upset), upset);
  });

  it("is served over MCP", async () => {
    const [state = ""] = rows.map((row) => row.state);
    const open = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const messages = [
      { id: 1, method: "initialize", params: open },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "decide", arguments: { state, questions } } },
    ].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const { stdout, stderr } = decision(["mcp", "--tuning", file("tuning.json")], {
      input: messages.join(""),
    });
    const [, reply = assert.fail(stderr)] = stdout.trimEnd().split("\n");
    assert.deepEqual(JSON.parse(reply).result.structuredContent.answers, tuned);
  });

  it("runs the commands of its page, in their order", async () => {
    const page = readFileSync(path.join(packageRoot, "docs/tuning.md"), "utf8");
    const commands = [...page.matchAll(/^npx decision (.*)$/gm)].map(([, line = ""]) => line.split(" "));
    assert.deepEqual(
      commands.map(([command]) => command),
      ["tune", "serve", "evaluate", "evaluate", "evaluate"],
    );
    for (const name of ["labelled.jsonl", "others.jsonl"])
      writeFileSync(file(name), readFileSync(file("rows.jsonl")));
    const outputs: string[] = [];
    for (const [command, ...args] of commands)
      if (command === "serve") {
        const service = await Service.start(args.map((arg) => (arg.endsWith(".json") ? file(arg) : arg)));
        const { body } = await service.call("GET", "/health");
        await service.stop();
        assert.match(JSON.stringify(body.tuning), /"name":"upset"/);
      } else {
        const { status, stdout, stderr } = await inProcess([command ?? "", ...args], { cwd: folder });
        assert.equal(status, 0, `${command} ${args.join(" ")}\n${stdout}${stderr}`);
        outputs.push(stdout);
      }
    const [fitted, kept, checked, compared] = outputs;
    assert.match(fitted ?? "", /Written to tuning\.json/);
    assert.ok(kept && JSON.parse(readFileSync(file("thresholds.json"), "utf8")).questions.length === 1);
    assert.match(checked ?? "", /check of thresholds\.json .*: passed/);
    assert.match(compared ?? "", /the second is better/);
  });

  it("tells wrong files and flags by one sentence, before a model is loaded", async () => {
    write("other.json", { ...tuning, model: tuning.model.replace(/@.*/, `@${"0".repeat(40)}`) });
    const ask = ["decide", "--state", "x", "--question", "Is it?"];
    for (const [args, wanted] of [
      [
        ["serve", "--port", "0", "--tuning", file("other.json")],
        /--tuning: .*other\.json belongs to .*@0{40}, but the model to serve is/,
      ],
      [
        [...ask, "--tuning", file("questions.json")],
        /--tuning takes a file that `decision tune` has written; .*questions\.json lacks "format"/,
      ],
      [
        [...ask, "--tuning", file("missing.json")],
        /--tuning .*missing\.json cannot be read: there is no such file/,
      ],
      [
        [...ask, "--tuning", file("tuning.json"), "--url", "http://127.0.0.1:1"],
        /--tuning cannot be sent to a service/,
      ],
      [flags("wrong.jsonl"), /--input, row 1: the label of "upset" must be one of "false", "true"\./],
      [flags("rows.jsonl", "--kind", "both"), /--kind/],
      [
        ["mcp", "--tuning", file("other.json")],
        /--tuning: .*other\.json belongs to .*@0{40}, but the model to serve is/,
      ],
      [
        ["rank", "--state", "x", "--candidate", "a", "--candidate", "b", "--tuning", file("other.json")],
        /--tuning: .*other\.json belongs to/,
      ],
    ] as const) {
      const { status, stderr } = await inProcess(args);
      assert.equal(status, 2, stderr);
      assert.match(stderr, wanted);
    }
  });
});
