import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it, type TestContext } from "node:test";
import { ModelRunner } from "../../src/backends/onnx/forwards/model-runner.ts";
import { beginRemote } from "../../src/backends/remote/begin-remote.ts";
import type { Backend } from "../../src/inference/backend.ts";
import { systemClock } from "../../src/inference/clock.ts";
import { writeWholeGraph } from "../../src/models/architectures/whole-graph.ts";
import { bitsOf } from "../support/bits.ts";
import { type Misbehaviour, serveGraph } from "../support/inference-server.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";
import { shallowGraph, shallowPackage, shallowShape } from "./shallow-model.ts";

const modelPackage = shallowPackage;
const folder = await mkdtemp(path.join(tmpdir(), "remote-"));
after(() => rm(folder, { recursive: true, force: true }));
await writeWholeGraph(modelPackage, "u8u8", folder);
const FOREST: readonly TokenTree[] = [
  { state: ids(90), questions: [{ tokens: ids(9), candidates: [ids(3), ids(5)] }] },
  { state: ids(12), questions: [{ tokens: ids(140), candidates: [ids(4)] }] },
];
function ids(length: number): Int32Array {
  return Int32Array.from({ length }, (_, at) => 1000 + at * 13);
}

function backendOf(
  url: string,
  more: { timeoutMs?: number; token?: string; precision?: string } = {},
): Backend {
  const { timeoutMs = 20_000, token, precision = "int8" } = more;
  const remote = {
    remoteUrl: url,
    remoteModel: "decision",
    remoteConnections: 2,
    remoteTimeoutMs: timeoutMs,
    remoteConnectTimeoutMs: 5_000,
    remoteCa: "",
    remoteTokenFile: "",
    token,
  };
  return beginRemote({ backend: "remote", device: "cpu", precision, strict: false, remote }).open({
    modelPackage,
    threads: 1,
    stateCacheBytes: 0,
    hasVectors: false,
    loadMs: 60_000,
    clock: systemClock,
    hangMs: 60_000,
    log: () => {},
  });
}

async function served(t: TestContext, how: Misbehaviour = {}) {
  const server = await serveGraph(path.join(folder, "model.onnx"), how);
  t.after(() => server.kill());
  return server;
}

async function started(t: TestContext, how: Misbehaviour = {}, more = {}) {
  const server = await served(t, how);
  const backend = backendOf(server.url, more);
  t.after(() => backend.close());
  await backend.start();
  return { server, backend };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("the backend remote", () => {
  it("gives the bits of the backend onnx, with binary tensors and with plain ones", async (t) => {
    const options = { threads: 1, stateCacheBytes: 0 };
    const local = await ModelRunner.load(await shallowGraph("u8u8"), shallowShape, options);
    const wanted = bitsOf((await local.score(leavesOfTrees(FOREST))).scores);
    for (const isBinary of [true, false]) {
      const { backend } = await started(t, { isBinary });
      assert.deepEqual(bitsOf((await backend.score(leavesOfTrees(FOREST))).scores), wanted);
    }
  });

  it("sends its token, and follows the server's readiness", async (t) => {
    const { server, backend } = await started(t, {}, { token: "s3cret" });
    assert.equal(server.seen[0]?.authorization, "Bearer s3cret");
    assert.equal(backend.isReady, true);
    server.setReady(false);
    await until(() => !backend.isReady);
    assert.equal(backend.isExpected, false);
    const back = new Promise<void>((resolve) => backend.onReady(resolve));
    server.setReady(true);
    await back;
    assert.deepEqual([backend.isReady, backend.isExpected], [true, true]);
  });

  it("asks a full server again", async (t) => {
    const { server, backend } = await started(t, {
      infer(count, response) {
        if (count % 2 === 1) response.writeHead(count % 4 === 1 ? 503 : 429, { "retry-after": "0" }).end();
        return count % 2 === 1;
      },
    });
    assert.equal((await backend.score(leavesOfTrees(FOREST))).scores.length, 3);
    assert.ok(server.seen.length >= 4);
  });

  it("retries if a connection breaks", async (t) => {
    const { backend } = await started(t, {
      infer(count, response) {
        if (count === 2) response.destroy();
        return count === 2;
      },
    });
    assert.equal((await backend.score(leavesOfTrees(FOREST))).scores.length, 3);
  });

  it("gives a slow server up", async (t) => {
    const { backend } = await started(t, { infer: (count) => count > 1 }, { timeoutMs: 300 });
    await assert.rejects(backend.score(leavesOfTrees(FOREST)), { kind: "BACKEND_FAILED" });
  });

  for (const [what, how] of Object.entries<Misbehaviour>({
    "scores of too few pairs": {
      answer: ([scores]) => void Object.assign(scores ?? {}, { shape: [1], data: [1] }),
    },
    "no number": { answer: ([scores]) => void Object.assign(scores ?? {}, { data: [null, 1] }) },
    "a shape that its data does not have": {
      answer: ([scores]) => void Object.assign(scores ?? {}, { shape: [7] }),
    },
  }))
    it(`refuses ${what}`, async (t) => {
      const server = await served(t, how);
      const backend = backendOf(server.url);
      t.after(() => backend.close());
      await assert.rejects(backend.start(), { kind: "BACKEND_FAILED" });
    });

  it("refuses another model by name", async (t) => {
    const backend = backendOf((await served(t)).url, { precision: "fp32" });
    t.after(() => backend.close());
    const message = /decision at http.*is not typed-decisions\/.* in fp32: the digest/;
    await assert.rejects(backend.start(), { kind: "INVALID_MODEL", message });
  });

  it("repeats a server's error at the start; later it names the status alone", async (t) => {
    const failingFrom = (first: number): Misbehaviour => ({
      infer(count, response) {
        if (count < first) return false;
        response.writeHead(500).end(JSON.stringify({ error: "no module\n named torch." }));
        return true;
      },
    });
    const { url } = await served(t, failingFrom(1));
    const never = backendOf(url);
    t.after(() => never.close());
    await assert.rejects(never.start(), {
      message: `The server at ${url} answered with status 500: no module named torch.`,
    });
    const { server, backend } = await started(t, failingFrom(2));
    await assert.rejects(backend.score(leavesOfTrees(FOREST)), { message: /answered with status 500\.$/ });
    server.setReady(false);
    await until(() => !backend.isReady);
    await assert.rejects(backend.score(leavesOfTrees(FOREST)), { message: /answered with status 500\.$/ });
  });

  it("says that nobody is there", async () => {
    const backend = backendOf("http://127.0.0.1:9");
    await assert.rejects(backend.start(), {
      kind: "BACKEND_FAILED",
      message: /127.0.0.1:9 cannot be reached/,
    });
    await backend.close();
  });
});
