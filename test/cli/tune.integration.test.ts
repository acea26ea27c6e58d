import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Ajv } from "ajv";
import { createDecider, createScorer } from "../../src/library/index.ts";
import { corrected, placesOf } from "../../src/tuning/correction.ts";
import { readTuning, type TuningFile } from "../../src/tuning/tuning-file.ts";
import { packageRoot } from "../support/package-root.ts";
import { inProcess } from "./in-process.ts";
import { questions, rows, writeRows } from "./tune-rows.ts";

const folder = mkdtempSync(path.join(tmpdir(), "tune-cli-"));
const file = (name: string) => path.join(folder, name);
const write = (name: string, value: unknown) => writeFileSync(file(name), JSON.stringify(value));
after(() => rmSync(folder, { recursive: true }));

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
  before(() => {
    write("questions.json", { upset: questions.upset });
    writeRows(file("few.jsonl"), rows.slice(14, 18));
    writeRows(file("rows.jsonl"));
    writeFileSync(file("wrong.jsonl"), '{"state":"x","labels":{"upset":"maybe"}}\n');
  });

  it("writes nothing from too few rows, and says so", async () => {
    const { status, stdout } = await inProcess(flags("few.jsonl"));
    assert.equal(status, 1, stdout);
    assert.match(stdout, /upset: no correction\n/);
    assert.match(stdout, /Too few rows: cross-validation needs at least 20 different states/);
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

  it("is served: the same numbers from scores and vectors, by the library", async () => {
    const [state] = rows.map((row) => row.state);
    const body = JSON.stringify({ state, questions });
    const scorer = await createScorer({}, { hasVectors: true });
    const [raw, other] = await scorer.score(body).finally(() => scorer.close());
    const [own] = tuning.questions;
    assert.ok(raw && other && own);
    const wanted = corrected(own, placesOf(own, raw.labels) ?? assert.fail(), raw.scores, raw.vectors);

    await using decider = await createDecider({ tuning: [file("tuning.json")], cacheSize: 100 });
    const answers = JSON.parse(await decider.ask("systemone", body)).answers;
    assert.deepEqual(Object.values(answers.upset.scores), [...wanted]);
    assert.notDeepEqual(wanted, raw.scores);
    assert.deepEqual(Object.values(answers.topic.scores), [...other.scores], "to the last bit");
    const upset = JSON.stringify(answers.upset);
    const again = JSON.parse(await decider.ask("systemone", body));
    assert.deepEqual([JSON.stringify(again.answers.upset), again.usage.cached_pairs], [upset, 4]);
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
        /--tuning: expected a file that `decision tune` has written, got another: .*questions\.json lacks "format"/,
      ],
      [
        [...ask, "--tuning", file("missing.json")],
        /--tuning .*missing\.json cannot be read: there is no such file/,
      ],
      [
        [...ask, "--tuning", file("tuning.json"), "--url", "http://127.0.0.1:1"],
        /--tuning has no effect on a running service/,
      ],
      [
        flags("wrong.jsonl"),
        /--input, row 1: the label of "upset": expected one of "false", "true", got "maybe"\./,
      ],
      [flags("rows.jsonl", "--kind", "both"), /--kind/],
    ] as const) {
      const { status, stderr } = await inProcess(args);
      assert.equal(status, 2, stderr);
      assert.match(stderr, wanted);
    }
  });
});
