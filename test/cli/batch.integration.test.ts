import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { MODEL_ID } from "../../packages/conformance/test/fast-engine.ts";
import { startFastService } from "../support/fast-service.ts";
import { embeddedModel, packageRoot } from "../support/package-root.ts";
import { until } from "../support/processes.ts";
import { inProcess } from "./in-process.ts";

/** As text: an object would move "2" to the front. */
const QUESTIONS = `{
  "intent": {"type": "choice", "instructions": "?", "criteria": {"10": "Money", "2": "Leave"}},
  "angry": {"type": "noul", "instructions": "The customer is angry."}
}`;
const ROWS = ["one", "two", "three", "four", "five", "six"].map((state, at) => ({ id: at, state }));
const JSONL = ROWS.map((row) => `${JSON.stringify(row)}\n`).join("");

const folder = mkdtempSync(path.join(tmpdir(), "batch-cli-"));
const file = (name: string) => path.join(folder, name);
const written = (name: string) => (existsSync(file(name)) ? readFileSync(file(name), "utf8") : "");
const lines = (name: string) => written(name).split("\n").length - 1;

/** URL of a service with an instant fake model. */
let url: string;
let close: () => Promise<void>;
before(async () => {
  writeFileSync(file("questions.json"), QUESTIONS);
  writeFileSync(file("faulty.json"), '{"q":{"type":"choice","instructions":"?","criteria":{"a":"b"}}}');
  writeFileSync(file("rows.jsonl"), JSONL);
  writeFileSync(file("rows.csv"), 'text,truth\nCharged twice,refund\n"a ""b""",\nx\n');
  // a model that cannot be loaded, since it has only a manifest
  mkdirSync(file("model"));
  copyFileSync(path.join(embeddedModel, "manifest.json"), file("model/manifest.json"));
  ({ url, close } = await startFastService());
});
after(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const { DECISION_API_KEY: _, DECISION_URL: __, ...own } = process.env;
  const command = path.join(packageRoot, "bin/decision.js");
  return spawn(process.execPath, [command, ...args], { env: { ...own, ...env }, cwd: folder });
}

async function ended(child: ChildProcess) {
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout ?? assert.fail()),
    text(child.stderr ?? assert.fail()),
    once(child, "close"),
  ]);
  return { stdout, stderr, status };
}

const decision = (args: readonly string[], env: Readonly<Record<string, string>> = {}, input = "") =>
  inProcess(args, { env, input, cwd: folder });

const BATCH = ["batch", "--questions", "questions.json"];

describe("decision batch", () => {
  it("writes an answer for each row, in order, and says what it did", async () => {
    const { stdout, stderr, status } = await decision([...BATCH, "--input", "rows.jsonl", "--url", url]);
    assert.equal(status, 0, stderr);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      rows.map(({ row, id, model }) => [row, id, model]),
      ROWS.map(({ id }) => [id + 1, id, MODEL_ID]),
    );
    assert.match(stdout, /"probabilities":\{"10":.*"2":/);
    assert.match(stderr, /^decision batch: 6 rows in \d+ s \(.* rows\/s\), no errors\n$/);
  });

  it("runs the examples of its page", async () => {
    const page = readFileSync(path.join(packageRoot, "docs/cli.md"), "utf8");
    const [, questions = ""] = page.match(/^```json\n([\s\S]*?)^```$/m) ?? [];
    const examples = mkdtempSync(path.join(tmpdir(), "batch-page-"));
    writeFileSync(path.join(examples, "questions.json"), questions);
    writeFileSync(path.join(examples, "tickets.csv"), "id,text\n1,Charged twice\n2,Goodbye\n");
    writeFileSync(path.join(examples, "rows.jsonl"), JSONL);
    const commands = [...page.matchAll(/^npx decision (.*)$/gm)].map(([, line = ""]) => line.split(" "));
    assert.equal(commands.length, 2);
    for (const args of commands) {
      const { status, stderr } = await inProcess(args, { env: { DECISION_URL: url }, cwd: examples });
      assert.equal(status, 0, stderr);
    }
    const answers = (name: string) => readFileSync(path.join(examples, name), "utf8").trimEnd().split("\n");
    assert.equal(answers("answers.csv").length, 3);
    assert.equal(answers("answers.jsonl").length, ROWS.length);
    rmSync(examples, { recursive: true });
  });

  it("keeps the columns of CSV and ends with 1 if a row has an error", async () => {
    const args = [...BATCH, "--input", "rows.csv", "--state-field", "text", "--output", "out.csv"];
    const { stderr, status } = await decision(args, { DECISION_URL: url });
    assert.equal(status, 1);
    assert.match(stderr, /3 rows in .*, 1 row with an error\n$/);
    const [head, first, second, third] = written("out.csv").split("\n");
    assert.equal(head, "text,truth,answer.intent,confidence.intent,answer.angry,confidence.angry,error");
    assert.match(first ?? "", /^Charged twice,refund,(10|2),0\.\d+,\d\.\d+,\d\.\d+,$/);
    assert.match(second ?? "", /^"a ""b""",,(10|2),/);
    assert.match(third ?? "", /^x,,,,,,"INVALID_REQUEST: Expected 2 cells/);
  });

  for (const [name, signal, status, says] of [
    ["SIGKILL", "SIGKILL", null, /^$/],
    ["Ctrl-C", "SIGINT", 1, /stopped by SIGINT; \d rows? written; continue with --resume\.\n$/],
  ] as const) {
    it(`goes on behind the last complete row after ${name}`, async (t) => {
      const output = `${signal}.jsonl`;
      const child = start([...BATCH, "--input", "-", "--output", output, "--url", url]);
      t.after(() => child.kill("SIGKILL")); // its input is still open if the test fails before the signal
      const stopped = ended(child);
      // its input stays open, so it cannot have ended by itself
      child.stdin?.write(JSONL.slice(0, JSONL.indexOf('{"id":3')));
      await until(() => lines(output) === 3, "three rows are written");
      child.kill(signal);
      const end = await stopped;
      assert.equal(end.status, status, end.stderr);
      assert.match(end.stderr, says);

      writeFileSync(file(output), `${written(output)}{"row":4,"answ`); // an incomplete row, as after a kill during a write
      const rest = [...BATCH, "--input", "rows.jsonl", "--output", output, "--resume", "--url", url];
      const resumed = await decision(rest);
      assert.equal(resumed.status, 0, resumed.stderr);
      assert.match(resumed.stderr, /: 3 rows in .*, 3 rows by an earlier run, no errors\n$/);
      const whole = await decision([...BATCH, "--input", "rows.jsonl", "--url", url]);
      assert.equal(written(output), whole.stdout);
    });
  }

  it("says with --json what it did", async () => {
    const args = [
      ...BATCH,
      "--input",
      "rows.csv",
      "--state-field",
      "text",
      "--output",
      "summed.csv",
      "--json",
    ];
    const { stdout, status } = await decision([...args, "--url", url]);
    const { seconds, ...rest } = JSON.parse(stdout);
    assert.deepEqual([status, rest], [1, { output: "summed.csv", rows: 3, errors: 1, earlierRows: 0 }]);
    assert.ok(seconds >= 0);
  });

  it("uses the model of this machine where no service is named", async () => {
    const child = start([...BATCH, "--input", "-"]);
    child.stdin?.end(JSONL);
    const { stdout, stderr, status } = await ended(child);
    assert.equal(status, 0, stderr);
    assert.equal(stdout.split("\n").length, ROWS.length + 1);
  });
});

describe("decision decide", () => {
  it("asks several questions of a file about a file, through a service", async () => {
    const args = ["decide", "--state-file", "rows.csv", "--questions", "questions.json"];
    const shown = await decision([...args, "--url", url]);
    assert.equal(shown.status, 0, shown.stderr);
    assert.match(
      shown.stdout,
      /^intent: (10|2)\n.* % {2}10\n.* % {2}2\nangry: (true|false)\n.*false\n.*true\n$/,
    );
    const { stdout } = await decision([...args, "--json"], { DECISION_URL: url });
    assert.equal(JSON.parse(stdout).model, MODEL_ID);
  });
});

describe("what is wrong in the arguments is refused before the model is loaded", () => {
  const MODEL = ["--model-path", "model"]; // loading it fails, with exit code 1
  const DECIDE = ["decide", "--state", "x", ...MODEL];
  const cases: readonly (readonly [string, string[], RegExp])[] = [
    [
      "a question with one label",
      [...DECIDE, "--question", "?", "--choice", "a"],
      /--choice: Expected at least 2/,
    ],
    [
      "questions of the same kind in a file",
      [...DECIDE, "--questions", "faulty.json"],
      /faulty\.json q criteria: Expected at least 2/,
    ],
    [
      "a file that is no JSON",
      [...DECIDE, "--questions", "rows.csv"],
      /--questions rows\.csv: Expected valid JSON/,
    ],
    [
      "a file that holds no questions",
      [...DECIDE, "--questions", "model/manifest.json"],
      /expected a JSON file with an object from name to question/,
    ],
    ["no question", DECIDE, /--question, --questions/],
    ["no state", ["decide", "--question", "?"], /--state, --state-file/],
    [
      "a state file that is not there",
      ["decide", "--state-file", "none", "--question", "?", ...MODEL],
      /--state-file \S+ cannot be read: there is no such file/,
    ],
    [
      "candidates of a ranking",
      ["rank", "--state", "x", "--candidate", "a", "--candidate", "a", ...MODEL],
      /--candidate/,
    ],
    [
      "an address that is none",
      ["decide", "--state", "x", "--question", "?", "--url", "localhost:1"],
      /--url: expected an address like http:\/\/127\.0\.0\.1:8700 or .*, got "localhost:1"/,
    ],
    ["a model and a service", [...DECIDE, "--question", "?", "--url", "http://x"], /--url/],
    [
      "faulty questions of a batch",
      ["batch", "--questions", "faulty.json", "--input", "rows.jsonl", ...MODEL],
      /faulty\.json q criteria/,
    ],
    [
      "an input that is not there",
      [...BATCH, "--input", "none.jsonl", ...MODEL],
      /--input \S+ cannot be read: there is no such file/,
    ],
    [
      "an input of no known format",
      [...BATCH, "--input", "questions.json", ...MODEL],
      /ends in \.jsonl, \.csv or \.tsv/,
    ],
    [
      "a column that is not there",
      [...BATCH, "--input", "rows.csv", ...MODEL],
      /no column "state" for the state, only "text", "truth"/,
    ],
    [
      "an output that is there",
      [...BATCH, "--input", "rows.jsonl", "--output", "questions.json", "--output-format", "jsonl", ...MODEL],
      /already exists: use --resume/,
    ],
    [
      "an output that is not of a batch",
      [
        ...BATCH,
        "--input",
        "rows.jsonl",
        "--output",
        "questions.json",
        "--output-format",
        "jsonl",
        "--resume",
        ...MODEL,
      ],
      /questions\.json is not/,
    ],
    [
      "an output in a folder that is not there",
      [...BATCH, "--input", "rows.jsonl", "--output", "none/out.jsonl", ...MODEL],
      /--output \S+ cannot be written/,
    ],
    [
      "the input as output",
      [...BATCH, "--input", "rows.jsonl", "--output", "rows.jsonl", "--overwrite", ...MODEL],
      /same file/,
    ],
    ["--resume without a file", [...BATCH, "--input", "rows.jsonl", "--resume", ...MODEL], /--resume needs/],
    [
      "an empty standard input",
      [...BATCH, "--input", "-", ...MODEL],
      /--input - reads standard input, which is empty/,
    ],
    [
      "an empty standard input as state",
      ["decide", "--state", "-", "--question", "?", ...MODEL],
      /--state - reads standard input, which is empty/,
    ],
    [
      "a summary where the answers go",
      [...BATCH, "--input", "rows.jsonl", "--json", ...MODEL],
      /--json .* needs an --output/,
    ],
  ];
  it("each with exit code 2 and what was expected", async () => {
    for (const [name, args, says] of cases) {
      const { stdout, stderr, status } = await decision(args);
      assert.equal(status, 2, `${name}: ${stderr}`);
      assert.match(stderr, says, name);
      assert.equal(stdout.startsWith('{"error":') ? "" : stdout, "", name);
    }
    assert.equal(readFileSync(file("rows.jsonl"), "utf8"), JSONL);
  });

  it("while a sound request meets the model that cannot be loaded", async () => {
    const { stderr, status } = await decision([...DECIDE, "--question", "?"]);
    assert.equal(status, 1);
    assert.match(stderr, /model/);
  });
});
