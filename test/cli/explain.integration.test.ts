import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { createFastEngine, MODEL_ID } from "../../packages/conformance/test/fast-engine.ts";
import { createContractFor } from "../../src/app.ts";
import { openDecider } from "../../src/library/deciders/local-decider.ts";
import type { LocalDecider } from "../../src/library/index.ts";
import { completeOptions } from "../../src/options/resolve.ts";
import { packageRoot } from "../support/package-root.ts";
import { inProcess } from "./in-process.ts";

const page = readFileSync(path.join(packageRoot, "docs/explain.md"), "utf8");

/** Processors differ in the last digits, and new processes in cached parts, so figures may differ by one point. */
function alike(printed: string, shown: string): void {
  const words = (text: string) =>
    text
      .replaceAll(/[-+]?\d+\.\d|█+ */g, "#")
      .replaceAll(/ +/g, " ")
      .trimEnd();
  assert.equal(words(printed), words(shown));
  const figures = (text: string) => [...text.matchAll(/[-+]?\d+\.\d/g)].map(Number);
  for (const [at, figure] of figures(shown).entries())
    assert.ok(Math.abs((figures(printed)[at] ?? Number.NaN) - figure) <= 1, `${figure} in ${printed}`);
}

describe("the page on explanations", () => {
  const examples = [...page.matchAll(/^```sh\nnpx decision (explain .*)\n```\n\n```\n([\s\S]*?)^```$/gm)];

  it("has examples", () => assert.equal(examples.length, 2));

  for (const [, line = "", shown = ""] of examples)
    it(`shows what is printed: ${line}`, async () => {
      const words = line.match(/(?:[^\s']|'[^']*')+/g) ?? [];
      const args = words.map((word) => word.replaceAll("'", ""));
      const { status, stdout, stderr } = await inProcess(args);
      assert.equal(status, 0, stderr);
      alike(stdout, shown);
    });
});

describe("decision explain", () => {
  let decider: LocalDecider;
  let url: string;
  let silent: string;
  const apps: { close(): Promise<unknown> }[] = [];
  before(async () => {
    const engine = await createFastEngine();
    decider = openDecider({
      engine,
      contract: await createContractFor(engine),
      options: completeOptions({}),
    });
    const listen = async (explain: boolean) => {
      const app = await decider.createApp({ explain });
      apps.push(app);
      return app.listen({ host: "127.0.0.1", port: 0 });
    };
    url = await listen(true);
    silent = await listen(false);
  });
  after(async () => {
    for (const app of apps) await app.close();
    await decider.close();
  });

  const ASKED = [
    "explain",
    "--state",
    "One here. Two \u{1FAE9} there.",
    "--question",
    "Which?",
    "--choice",
    "10=a",
    "--choice",
    "2=b",
  ];

  it("asks a service, and shows labels in the order given", async () => {
    const { status, stdout, stderr } = await inProcess([...ASKED, "--url", url]);
    assert.equal(status, 0, stderr);
    assert.ok(stdout.startsWith(`${MODEL_ID} reads\n\nstate: `), stdout);
    assert.match(stdout, /\n {2}10: \d+ tokens of 768 .*\n.*\n {2}2: /);
    assert.match(stdout, /\[UNK\]=\u{1FAE9}[\s\S]*unknown to the model: \u{1FAE9}\n/u);
    assert.match(
      stdout,
      /adds to "(10|2)", in percentage points:\n +[-+]\d+\.\d █* +One here\.[\s\S]* Two \u{1FAE9} there\./u,
    );
  });

  it("prints the service's own explanation with --json", async () => {
    const { stdout } = await inProcess([...ASKED, "--json"], { env: { DECISION_URL: url } });
    const { answers, influence } = JSON.parse(stdout);
    assert.deepEqual([answers.answer.type, influence.length], ["choice", 2]);
    assert.match(stdout, /"candidates":\{"10":/);
  });

  it("answers the request of its page", async () => {
    const [, address = "", body = ""] = page.match(/^curl -s localhost:8700(\S+) .*? -d '([^']*)'$/ms) ?? [];
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}${address}`, { method: "POST", headers, body });
    assert.equal(response.status, 200);
    const told = JSON.stringify(await response.json());
    assert.match(told, /"influence":\[.*"text":"But the kettle is broken!"/);
  });

  const RANKED = [
    "explain",
    "--state",
    "One here. Two there.",
    "--candidate",
    "Open tray 2",
    "--candidate",
    "Buy ink",
  ];

  it("explains a ranking, and names candidates by their texts", async () => {
    const { status, stdout, stderr } = await inProcess([...RANKED, "--url", url]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /\nquestion: \d+ token.*\n.*\n {2}Open tray 2: .*\n.*\n {2}Buy ink: /);
    const [, first] = stdout.match(/\n1\. +\d+\.\d % {2}(.*)\n2\. /) ?? [];
    assert.ok(first === "Open tray 2" || first === "Buy ink", stdout);
    assert.match(stdout, new RegExp(`adds to "${first}", in percentage points:\\n.* One here\\.`));
    const { status: locally, stdout: dry } = await inProcess([
      ...RANKED,
      "--question",
      "Which?",
      "--dry-run",
    ]);
    assert.deepEqual([locally, /which \?/.test(dry), /\n1\. /.test(dry)], [0, true, false]);
  });

  it("refuses flags that do not go with candidates, and names a bad candidate", async () => {
    const both = await inProcess([...RANKED, "--question", "Which?", "--choice", "a", "--url", url]);
    assert.deepEqual(
      [both.status, /--choice=a cannot also be provided when using --candidate/.test(both.stderr)],
      [2, true],
      both.stderr,
    );
    const equal = await inProcess([...RANKED.slice(0, -1), "Open tray 2", "--dry-run"]);
    assert.equal(equal.status, 2);
    assert.match(equal.stderr, /--candidate 1: Expected a text unlike/);
    const nothing = await inProcess(RANKED.slice(0, 3));
    assert.equal(nothing.status, 2);
    assert.match(
      nothing.stderr,
      /At least one of the following must be provided: --candidate, --question, --questions/,
    );
  });

  it("says what a service lacks that explains nothing", async () => {
    const { status, stderr } = await inProcess([...ASKED, "--url", silent]);
    assert.equal(status, 1);
    assert.match(stderr, /start it with --explain/);
  });

  it("names characters that are left out", async () => {
    const asked = ["explain", "--dry-run", "--state", "One\u200d two.", ...ASKED.slice(3)];
    const { status, stdout } = await inProcess(asked);
    assert.equal(status, 0);
    assert.match(stdout, /^left out: U\+200D$/m);
  });

  it("names candidates that are the same to the model", async () => {
    const same = ["--choice", "schon", "--choice", "Schön"];
    const { status, stdout } = await inProcess([...ASKED.slice(0, 5), ...same, "--dry-run"]);
    assert.equal(status, 0);
    assert.match(stdout, /\nthe same to the model \(question\): "schon", "Schön"$/m);
    assert.doesNotMatch((await inProcess([...ASKED, "--dry-run"])).stdout, /the same to the model/);
  });

  it("dry, needs no model and names what is wrong by its flag", async () => {
    const { status, stdout } = await inProcess([...ASKED, "--dry-run"]);
    assert.equal(status, 0);
    assert.match(stdout, /unknown to the model: \u{1FAE9}$/mu);
    const wrong = await inProcess([...ASKED.slice(0, -2), "--dry-run"]);
    assert.deepEqual([wrong.status, /--choice: Expected at least 2/.test(wrong.stderr)], [2, true]);
  });
});
