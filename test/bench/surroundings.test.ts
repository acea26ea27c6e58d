import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseProcesses, serviceMemory } from "../../bench/http/resident-memory.ts";
import { serveFlags } from "../../bench/http/server-process.ts";
import { Target } from "../../bench/http/target.ts";
import { cpuFlags, describeMachine, describeVersions } from "../../bench/report/machine.ts";
import { resolveOptions } from "../../src/options/resolve.ts";

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

  it("names machine and versions", () => {
    const { cpu, processors, usableProcessors, memoryBytes } = describeMachine();
    assert.ok(cpu.length > 0 && processors >= usableProcessors && usableProcessors >= 1 && memoryBytes > 0);
    const versions = describeVersions();
    assert.equal(versions.node, process.versions.node);
    assert.match(versions.onnxruntime, /^\d+\.\d+\.\d+/);
    assert.match(versions.package, /^\d+\.\d+\.\d+/);
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

  it("is measured with the processes below it", () => {
    assert.deepEqual(parseProcesses("  12  1 2048\n 13 12   1024\n\n"), [
      { pid: 12, parent: 1, bytes: 2048 * 1024 },
      { pid: 13, parent: 12, bytes: 1024 * 1024 },
    ]);
    const memory = serviceMemory(process.pid);
    assert.ok(memory === undefined || memory.service > 1e6);
    assert.equal(serviceMemory(-1), undefined);
  });
});

describe("a server at a URL", () => {
  for (const url of ["localhost:8700", "ftp://x", "", "http://"]) {
    it(`is not ${JSON.stringify(url)}`, () => assert.throws(() => new Target(url), /a server is named like/));
  }

  it("is said not to answer, where none does", async () => {
    const target = new Target("http://127.0.0.1:9/");
    await assert.rejects(target.facts(), /no server answers at http:\/\/127\.0\.0\.1:9: /);
    target.close();
  });
});
