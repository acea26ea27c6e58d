import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { ChildBackend } from "../../src/backends/onnx/child-backend.ts";
import { ServiceError } from "../../src/errors.ts";
import type { TokenTree } from "../../src/inference/ports.ts";
import { embeddedModel } from "../support/package-root.ts";

const pair: TokenTree = {
  state: Int32Array.of(101, 2026, 102),
  questions: [{ tokens: Int32Array.of(2029, 102), candidates: [Int32Array.of(101, 2053, 102)] }],
};
/** A forest that takes a second or so: long enough to be interrupted. */
const long: TokenTree = {
  state: Int32Array.from({ length: 1500 }, (_, i) => 2000 + i),
  questions: [
    {
      tokens: Int32Array.of(2029, 102),
      candidates: Array.from({ length: 250 }, (_, i) =>
        Int32Array.from({ length: 40 }, (_, j) => 2000 + i + j),
      ),
    },
  ],
};

const childrenOf = (pid: number) =>
  execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" })
    .split("\n")
    .map(Number)
    .filter(Boolean);
const commandOf = (pid: number) =>
  execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });

function inferenceProcess(): number {
  for (const pid of childrenOf(process.pid)) {
    try {
      if (commandOf(pid).includes("backends/onnx/process")) return pid;
    } catch {
      // gone between the two looks: `ps` itself is a child, too
    }
  }
  throw new Error("there is no inference process");
}

function backendFor(folder: string, events: string[] = []): ChildBackend {
  const log = (event: string) => events.push(event);
  return new ChildBackend({ folder, threads: 2, stateCacheBytes: 0, hangMs: 60_000, log });
}

describe("the backend's process", () => {
  const events: string[] = [];
  const backend = backendFor(embeddedModel, events);
  before(() => backend.start());
  after(() => backend.close());

  it("scores what it is sent", async () => {
    const { scores, forwards } = await backend.score([pair]);
    assert.equal(scores.length, 1);
    assert.ok(Number.isFinite(scores[0]));
    assert.equal(forwards, 1);
  });

  it("fails the run during which it is killed, and answers the next one from a new process", async () => {
    const killed = inferenceProcess();
    const running = assert.rejects(
      backend.score([long]),
      (error) => error instanceof ServiceError && error.kind === "BACKEND_FAILED",
    );
    process.kill(killed, "SIGKILL");
    await running;
    const { scores } = await backend.score([pair]);
    assert.ok(Number.isFinite(scores[0]));
    assert.notEqual(inferenceProcess(), killed);
    assert.deepEqual(events, ["inference process ended, starting another"]);
  });

  it("fails a forest that the model cannot take, and goes on", async () => {
    const outside: TokenTree = { ...pair, state: Int32Array.of(1_000_000) };
    await assert.rejects(backend.score([outside]), { name: "ServiceError", kind: "BACKEND_FAILED" });
    assert.equal((await backend.score([pair])).scores.length, 1);
  });

  it("is gone when the backend is closed", async () => {
    const other = backendFor(embeddedModel);
    await other.start();
    const before = childrenOf(process.pid).length;
    await other.close();
    assert.ok(childrenOf(process.pid).length < before);
    await assert.rejects(other.score([pair]), { kind: "BACKEND_FAILED" });
  });
});

it("a folder without a model package is refused at start", async () => {
  await assert.rejects(backendFor("/nonexistent").start(), (error) => {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.kind, "INVALID_MODEL");
    assert.match(error.message, /manifest\.json/);
    return true;
  });
});
