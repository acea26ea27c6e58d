import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { MODEL_ID } from "../../packages/conformance/test/fast-engine.ts";
import { startFastService } from "../support/fast-service.ts";
import { packageRoot } from "../support/package-root.ts";
import { inProcess } from "./in-process.ts";

const folder = mkdtempSync(path.join(tmpdir(), "evaluate-cli-"));
const file = (name: string) => path.join(folder, name);
const read = (name: string) => readFileSync(file(name), "utf8");
const page = readFileSync(path.join(packageRoot, "docs/evaluation.md"), "utf8");

const MANY_ROWS = 40;

/** URL of a service with an instant fake model, whose answers are hashes. */
let url: string;
let close: () => Promise<void>;
before(async () => {
  for (const [, name = "", content = ""] of page.matchAll(/^`([\w.]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm))
    writeFileSync(file(name), content);
  const rows = Array.from({ length: MANY_ROWS }, (_, at) => {
    const labels = { intent: at % 3 ? "refund" : "cancel", angry: at % 2 === 0 };
    return `${JSON.stringify({ state: `Message ${at}`, labels })}\n`;
  });
  writeFileSync(file("many.jsonl"), rows.join(""));
  writeFileSync(file("rows.csv"), "text,intent,angry\nMoney,refund,yes\nBye,cancel,\n");
  writeFileSync(file("wrong.jsonl"), '{"state":"x","labels":{"intent":"none"}}\n');
  writeFileSync(file("faulty.jsonl"), `${read("labelled.jsonl")}{"labels":{"intent":"refund"}}\n`);
  writeFileSync(file("empty.jsonl"), "\n");
  const kept = {
    name: "angry",
    data: "",
    question: "",
    rows: 1,
    accuracy: 1,
    threshold: null,
    coverage: 0,
    keptAccuracy: 0,
  };
  writeFileSync(file("kept.json"), JSON.stringify({ format: "decision-thresholds/1", questions: [kept] }));
  writeFileSync(file("bare.jsonl"), '{"state":"x","labels":{"angry":true}}\n');
  ({ url, close } = await startFastService());
});
after(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

const evaluate = (...args: readonly string[]) =>
  inProcess(["evaluate", ...args], { env: { DECISION_URL: url }, cwd: folder });

const QUESTIONS = ["--questions", "questions.json"];
const MANY = [...QUESTIONS, "--input", "many.jsonl"];

describe("decision evaluate", () => {
  it("runs the examples of its page", async () => {
    const commands = [...page.matchAll(/^npx decision evaluate (.*)$/gm)].map(([, args = ""]) => args);
    assert.equal(commands.length, 5);
    for (const args of commands) {
      const { stdout, stderr, status } = await evaluate(...args.split(" "));
      assert.equal(status, 0, `${args}\n${stdout}${stderr}`);
    }
    assert.equal(JSON.parse(read("thresholds.json")).target, 0.9);
  });

  it("shows the figures, and the same ones as JSON", async () => {
    const shown = await evaluate(...MANY);
    const { stdout } = await evaluate(...MANY, "--json", "--report", "page.html");
    const { model, rows, questions } = JSON.parse(stdout);
    assert.deepEqual([model, rows], [MODEL_ID, MANY_ROWS]);
    const [intent, angry] = questions;
    assert.deepEqual([intent.name, angry.name, intent.accuracy.count], ["intent", "angry", MANY_ROWS]);
    const right = intent.confusion[0][0] + intent.confusion[1][1];
    assert.equal(intent.accuracy.right, right);
    const head = `intent: right in ${(100 * intent.accuracy.share).toFixed(1)} % (`;
    assert.ok(shown.stdout.includes(head), shown.stdout);
    assert.match(shown.stdout, /label \\ answer +refund +cancel\n/);
    assert.match(shown.stdout, /calibration error: \d+\.\d %\n/);

    const html = read("page.html");
    assert.ok(html.includes("<svg") && html.includes(MODEL_ID));
    assert.doesNotMatch(html, /<script|<link|https?:|NaN|undefined/);
  });

  it("ends with 1 if a row has no answer, and says which", async () => {
    const { stdout, status } = await evaluate(...QUESTIONS, "--input", "faulty.jsonl");
    assert.equal(status, 1);
    assert.match(stdout, /1 row without an answer, not counted; the first is row 4: Expected a text/);
  });

  it("ends with 1 if something is worse than in the file, and with 0 if nothing is", async () => {
    const made = await evaluate(...MANY, "--thresholds", "made.json");
    assert.equal(made.status, 0, made.stderr);
    const same = await evaluate(...MANY, "--check", "made.json", "--tolerance", "0");
    assert.equal(same.status, 0, same.stdout);
    assert.match(same.stdout, /check of made\.json \(.*\): passed\n/);

    const before = JSON.parse(read("made.json"));
    before.questions[1].accuracy += 0.02;
    writeFileSync(file("better.json"), JSON.stringify(before));
    const worse = await evaluate(...MANY, "--check", "better.json");
    assert.equal(worse.status, 1);
    assert.match(worse.stdout, /angry: accuracy .* -> .*, worse\n/);
    assert.doesNotMatch(worse.stdout, /intent: .*, worse/);
    const tolerated = await evaluate(...MANY, "--check", "better.json", "--tolerance", "0.03");
    assert.equal(tolerated.status, 0, tolerated.stdout);
  });

  it("compares questions on the same rows", async () => {
    const { stdout } = await evaluate(...MANY, "--compare", "wording.json", "--json");
    const { comparison } = JSON.parse(stdout);
    const [one, ...others] = comparison.questions;
    assert.deepEqual([one.first, others.length], ["intent", 0]);
    const { firstAccuracy, secondAccuracy, onlyFirst, onlySecond } = one;
    assert.equal(firstAccuracy.right - secondAccuracy.right, onlyFirst - onlySecond);
    const same = await evaluate(...MANY, "--compare-url", url);
    assert.match(same.stdout, /intent: no significant difference \(p = 1\.000\)/);
  });

  it("refuses wrong arguments and labels before anything is asked", async () => {
    const cases: [string[], RegExp][] = [
      [
        [...QUESTIONS, "--input", "wrong.jsonl"],
        /row 1: the label of "intent": expected one of "refund", "cancel"/,
      ],
      [[...QUESTIONS, "--input", "empty.jsonl"], /--input has no rows/],
      [[...QUESTIONS, "--input", "bare.jsonl"], /--input has no label for "intent"/],
      [[...QUESTIONS, "--input", "rows.csv"], /no column "state"/],
      [[...MANY, "--target", "95"], /--target: expected a share/],
      [[...MANY, "--check", "questions.json"], /--check needs a file written by --thresholds/],
      [
        [...MANY, "--report", "none/page.html"],
        /--report none.page\.html cannot be written: its folder does not exist/,
      ],
      [[...MANY, "--thresholds", "."], /--thresholds: expected a file/],
      [["--questions", "wording.json", "--input", "many.jsonl", "--check", "kept.json"], /lacks "angry"/],
    ];
    for (const [args, says] of cases) {
      const { stderr, status } = await evaluate(...args, "--url", "http://127.0.0.1:1");
      assert.equal(status, 2, stderr);
      assert.match(stderr, says);
    }
    assert.ok(!existsSync(file("none")));
  });
});
