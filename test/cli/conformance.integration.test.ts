import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { FaultyService, KEY } from "../../packages/conformance/test/faulty-service.ts";
import { decision } from "./decision.ts";
import { inProcess } from "./in-process.ts";

let keyed: FaultyService;
let folder: string;
before(async () => {
  keyed = await FaultyService.start({ apiKey: KEY });
  folder = mkdtempSync(path.join(tmpdir(), "conformance-"));
});
after(async () => {
  await keyed.stop();
  rmSync(folder, { recursive: true });
});

function conformance(args: readonly string[], env: Record<string, string> = {}) {
  return inProcess(["conformance", ...args], { env });
}

describe("decision conformance", () => {
  it("ends with 0 and a few lines when all is kept", async () => {
    const { status, stdout, stderr } = await conformance([keyed.url, "--only", "arithmetic"], {
      DECISION_API_KEY: KEY,
    });
    assert.equal(status, 0);
    assert.match(stdout, /7 kept, 0 broken, 0 skipped/);
    assert.equal(stderr, "", "no progress where it is no terminal");
  });

  it("ends with 1 when a clause is broken, and writes every report, none of them with the key", async () => {
    keyed.plant({ answer: (body) => void (body.has("ranked") && body.delete("ranked")) });
    const junit = path.join(folder, "junit.xml");
    const { status, stdout } = await conformance(
      [keyed.url, "--only", "rank.rows", "--json", "--junit", junit],
      { DECISION_API_KEY: KEY },
    );
    keyed.plant({});
    assert.equal(status, 1);
    const { counts, results } = JSON.parse(stdout);
    assert.deepEqual(counts, { passed: 0, failed: 1, accepted: 0, skipped: 0 });
    assert.match(results[0].curl, /\$DECISION_API_KEY/);
    const written = [stdout, readFileSync(junit, "utf8")];
    for (const text of written) assert.ok(text.includes("rank.rows") && !text.includes(KEY));
  });

  it("accepts what the baseline names, fails by anything else, and names what is kept again", async () => {
    const baseline = path.join(folder, "baseline.json");
    const args = [keyed.url, "--only", "rank.rows", "--only", "rank.usage"];
    keyed.plant({ answer: (body) => void (body.has("ranked") && body.delete("ranked")) });
    assert.equal(
      (await conformance([...args, "--write-baseline", baseline], { DECISION_API_KEY: KEY })).status,
      1,
    );
    const { accepted } = JSON.parse(readFileSync(baseline, "utf8"));
    assert.deepEqual(
      accepted.map(({ clause }: { clause: string }) => clause),
      ["rank.rows"],
    );
    const again = await conformance([...args, "--baseline", baseline, "--github"], { DECISION_API_KEY: KEY });
    assert.equal(again.status, 0, again.stdout);
    assert.match(again.stdout, /1 kept, 0 broken, 1 accepted/);
    assert.match(again.stdout, /^::notice title=rank\.rows::accepted: /m);
    keyed.plant({ answer: (body) => void body.delete("usage") });
    assert.equal((await conformance([...args, "--baseline", baseline], { DECISION_API_KEY: KEY })).status, 1);
    keyed.plant({});
    const kept = await conformance([...args, "--baseline", baseline], { DECISION_API_KEY: KEY });
    assert.equal(kept.status, 0);
    assert.match(kept.stdout, /rank\.rows passes now/);
    writeFileSync(
      baseline,
      JSON.stringify({
        format: "decision-conformance-baseline-v1",
        accepted: [{ clause: "nope", reason: "x" }],
      }),
    );
    const wrong = await conformance([...args, "--baseline", baseline], { DECISION_API_KEY: KEY });
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /"nope", but there is no such clause/);
  });

  it("ends with 2 and says so in one line if a key is required and none was given", async () => {
    const { status, stdout } = await conformance([keyed.url, "--only", "rank", "--json"]);
    assert.equal(status, 2);
    assert.match(JSON.parse(stdout).results[0].came, /the server requires a key and none was given/);
    const shown = await conformance([keyed.url, "--only", "rank"]);
    assert.equal(shown.stdout.match(/^the server requires a key and none was given/gm)?.length, 1);
  });

  it("ends with 1 at a port where nothing listens", () => {
    const { status, stdout } = decision(["conformance", "http://127.0.0.1:1"]);
    assert.equal(status, 1);
    assert.match(stdout, /nothing listens at that address/);
    assert.ok(stdout.split("\n").length < 8, "one cause is said once");
  });
});

describe("decision conformance ends with 2 and one line for wrong usage:", () => {
  for (const [name, args, says] of [
    ["no address", [], /Expected one argument, the address of the server/],
    ["an address that is none", ["localhost"], /http:\/\/127\.0\.0\.1:8700/],
    ["an unknown clause", ["http://localhost", "--only", "nope"], /"nope"/],
    ["a timeout that is none", ["http://localhost", "--timeout", "soon"], /--timeout/],
    ["a folder that is not there", ["http://localhost", "--junit", "/no/such/file"], /--junit/],
    ["two formats", ["http://localhost", "--json", "--github"], /--json/],
    ["an unknown profile", ["http://localhost", "--profile", "x"], /seed, full/],
  ] as const) {
    it(name, async () => {
      const { status, stdout, stderr } = await conformance(args);
      assert.equal(status, 2);
      if ((args as readonly string[]).includes("--json"))
        assert.equal(JSON.parse(stdout).error.code, "INVALID_OPTION");
      else assert.equal(stdout, "");
      assert.match(stderr, says);
      assert.doesNotMatch(stderr, /\n {4}at /);
    });
  }
});
