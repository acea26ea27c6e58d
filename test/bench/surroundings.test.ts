import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { serveFlags } from "../../bench/http/server-process.ts";
import { Target } from "../../bench/http/target.ts";
import { cpuFlags } from "../../bench/report/machine.ts";
import { rankRequest } from "../../bench/workloads/requests.ts";
import { resolveOptions } from "../../src/options/resolve.ts";
import { startFakeServer } from "./fake-server.ts";

const REQUEST = rankRequest("s", "", ["x", "y"]);

describe("what a figure comes with", () => {
  it("names the instruction sets of x86 and of ARM, and none where the system does not tell", () => {
    assert.deepEqual(cpuFlags("model name : x\nflags\t\t: fpu avx2 sse avx512_vnni amx_int8\n"), [
      "avx2",
      "avx512_vnni",
      "amx_int8",
    ]);
    assert.deepEqual(cpuFlags("Features\t: fp asimd asimddp i8mm"), ["asimd", "asimddp", "i8mm"]);
    assert.deepEqual(cpuFlags(""), []);
  });
});

describe("the service that the bench starts", () => {
  it("is given every option as a flag, on a free port of this machine", () => {
    const options = resolveOptions({
      "max-batch-tokens": "512",
      strict: true,
      alias: ["a", "b"],
      port: "9",
      host: "x",
    });
    const flags = serveFlags(options).join(" ");
    assert.match(flags, /--host 127\.0\.0\.1 --port 0 /);
    assert.match(flags, /--max-batch-tokens 512 /);
    assert.match(flags, /--strict/);
    assert.match(flags, /--alias a --alias b/);
    assert.doesNotMatch(flags, /--offline|--model-path/);
    assert.deepEqual(resolveOptions({}), resolveOptions({ port: String(resolveOptions({}).port) }));
  });
});

describe("a server at a URL", () => {
  for (const url of ["localhost:8700", "ftp://x", "", "http://"]) {
    it(`is not ${JSON.stringify(url)}`, () =>
      assert.throws(() => new Target(url), /the URL of a server: expected an address like/));
  }

  it("is given up when it accepts and never answers, and when the run is stopped", async () => {
    const server = await startFakeServer(() => "silent", { healthOf: () => "silent" });
    const target = new Target(server.url);
    const stop = new AbortController();
    await assert.rejects(target.facts(stop.signal, 20), /no server answers at .*: Headers Timeout Error\./);
    const stopped = target.sendSurely(REQUEST, stop.signal);
    stop.abort(new Error("stopped"));
    await assert.rejects(stopped, /^Error: stopped$/);
    target.close();
    await server.close();
  });

  it("may lie below a path, and must say what it serves", async () => {
    const server = await startFakeServer(() => 200);
    const { signal } = new AbortController();
    for (const base of ["/decisions", "/decisions/"]) {
      const target = new Target(server.url + base);
      assert.equal((await target.facts(signal)).model, "acme/other@1");
      assert.equal((await target.sendSurely(REQUEST, signal)).status, 200);
      target.close();
    }
    assert.deepEqual(server.paths, ["/decisions/v1/rank", "/decisions/v1/rank"]);
    await server.close();
    const other = await startFakeServer(() => 200, { healthOf: () => "wrong" });
    const target = new Target(other.url);
    await assert.rejects(target.facts(signal), /\/health answers 200: without the served model/);
    target.close();
    await other.close();
  });
});
