import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { startFastService } from "../support/fast-service.ts";
import { packageRoot } from "../support/package-root.ts";
import { inProcess } from "./in-process.ts";

describe("the README", () => {
  it("shows commands that answer as it says", async () => {
    const page = readFileSync(path.join(packageRoot, "README.md"), "utf8");
    const lines = [...page.matchAll(/^npx decision (.*)$/gm)].map(([, line = ""]) => line);
    const outputs: string[] = [];
    for (const line of lines) {
      const words = line.match(/(?:[^\s']|'[^']*')+/g) ?? [];
      const { stdout } = await inProcess(words.map((word) => word.replaceAll("'", "")));
      outputs.push(stdout);
    }
    assert.equal(outputs.length, 2);
    assert.match(outputs[0] ?? "", /^true\n/);
    assert.match(outputs[1] ?? "", /^1\. .* Open tray 2\.\n2\. /);
  });
});

/** A service with an instant fake model, since only the output of answers is tested. */
let service: Awaited<ReturnType<typeof startFastService>>;
before(async () => {
  service = await startFastService();
});
after(() => service.close());
const ask = (args: readonly string[], input = "") =>
  inProcess(args, { env: { DECISION_URL: service.url }, input });

describe("decision decide", () => {
  const state = ["--state", "I was charged twice for one order. Give me my money back!"];

  it("picks a label and shows every probability in the order given", async () => {
    const choices = [
      "--choice",
      "10=Wants money back",
      "--choice",
      "2=Wants to leave",
      "--choice",
      "1=Reports a fault",
    ];
    const { status, stdout } = await ask(["decide", ...state, "--question", "What is wanted?", ...choices]);
    assert.equal(status, 0);
    const [first = "", ...rows] = stdout.trimEnd().split("\n");
    assert.match(first, /^(10|2|1)$/);
    assert.deepEqual(
      rows.map((row) => row.trim().split(/ +% +/)[1]),
      ["10", "2", "1"],
    );
  });

  it("takes == in a label for =, and each = of a description as it is", async () => {
    const choices = ["https://a.example/?x==1", "a===b==c", "b===="].flatMap((each) => ["--choice", each]);
    const args = ["decide", ...state, "--question", "What is wanted?", ...choices, "--json"];
    const { status, stdout } = await ask(args);
    assert.equal(status, 0);
    const { answers } = JSON.parse(stdout);
    assert.deepEqual(Object.keys(answers.answer.probabilities), ["https://a.example/?x=1", "a=", "b=="]);
  });

  it("shows each level by its number and its text, on one line", async () => {
    const levels = ["--level", "can wait", "--level", "this\nweek", "--level", "today"];
    const { status, stdout } = await ask(["decide", ...state, "--question", "How urgent?", ...levels]);
    assert.equal(status, 0);
    const [first = "", ...rows] = stdout.trimEnd().split("\n");
    assert.match(first, /^[012]\.\d\d on levels 0 to 2$/);
    assert.deepEqual(
      rows.map((row) => row.trim().split(/ % {2}/)[1]),
      ["0: can wait", "1: this week", "2: today"],
    );
  });

  it("prints the service's own answer with --json", async () => {
    const levels = ["--level", "can wait", "--level", "today"];
    const { status, stdout } = await ask([
      "decide",
      ...state,
      "--question",
      "How urgent?",
      ...levels,
      "--json",
    ]);
    assert.equal(status, 0);
    const { answers, usage } = JSON.parse(stdout);
    assert.equal(answers.answer.type, "score");
    assert.equal(answers.answer.score, answers.answer.probabilities["1"]);
    assert.equal(usage.output_tokens, 0);
  });

  it("asks yes or no without criteria, and reads the state from standard input", async () => {
    const args = ["decide", "--state", "-", "--question", "The customer is angry."];
    const { status, stdout } = await ask(args, "Give me my money back today!");
    assert.equal(status, 0);
    assert.match(stdout, /^(true|false)\n.* % {2}false\n.* % {2}true\n$/);
  });
});

describe("decision rank", () => {
  it("prints the candidates from the best to the worst", async () => {
    const args = [
      "--state",
      "The printer reports a paper jam",
      "--candidate",
      "Open tray 2",
      "--candidate",
      "Buy ink",
    ];
    const { status, stdout } = await ask(["rank", ...args]);
    assert.equal(status, 0);
    const rows = stdout.trimEnd().split("\n");
    assert.equal(rows.length, 2);
    const shares = rows.map((row) => Number.parseFloat(row.slice(3)));
    assert.ok((shares[0] ?? 0) >= (shares[1] ?? 1));
  });
});
