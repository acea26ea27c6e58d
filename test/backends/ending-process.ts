import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { ChildBackend } from "../../src/backends/process/child-backend.ts";
import type { InferenceProcess } from "../../src/backends/process/inference-process.ts";
import { createEngine } from "../../src/engine.ts";
import { ServiceError } from "../../src/errors.ts";
import { systemClock } from "../../src/inference/clock.ts";
import { type ModelPackage, openModelPackage } from "../../src/models/package/package.ts";
import { resolveOptions } from "../../src/options/resolve.ts";
import { embeddedModel } from "../support/package-root.ts";
import {
  childrenOf,
  inferenceProcessesOf,
  inferenceProcessOf,
  isAlive,
  until,
} from "../support/processes.ts";
import { quotedUrl } from "../support/source-url.ts";
import type { TestedBackend } from "../support/tested-backends.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";

const pair: TokenTree = {
  state: Int32Array.of(101, 2026, 102),
  questions: [{ tokens: Int32Array.of(2029, 102), candidates: [Int32Array.of(101, 2053, 102)] }],
};
/** A forest that takes about a second, long enough to be interrupted. */
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

function backendFor(
  { start }: TestedBackend,
  modelPackage: ModelPackage,
  events: string[] = [],
  first?: InferenceProcess,
  stateCacheBytes = 0,
): ChildBackend {
  const log = (event: string) => events.push(event);
  const limits = { loadMs: 60_000, hangMs: 60_000, clock: systemClock };
  return new ChildBackend({
    modelPackage,
    startProcess: start,
    threads: 2,
    stateCacheBytes,
    ...limits,
    log,
    ...(first && { process: first }),
  });
}

const modelPackage = await openModelPackage(embeddedModel);

/** Tests what happens if a process of the backend ends or cannot be started. */
export function testEnds(tested: TestedBackend): void {
  describe("the backend's process", () => {
    const events: string[] = [];
    const backend = backendFor(tested, modelPackage, events);
    before(() => backend.start());
    after(() => backend.close());

    it("scores what it is sent", async () => {
      const { scores, forwards } = await backend.score(leavesOfTrees([pair]));
      assert.equal(scores.length, 1);
      assert.ok(Number.isFinite(scores[0]));
      assert.equal(forwards, 1);
    });

    it("fails the run during which it is killed, and answers the next one from a new process", async () => {
      const killed = inferenceProcessOf(process.pid);
      const running = assert.rejects(
        backend.score(leavesOfTrees([long])),
        (error) => error instanceof ServiceError && error.kind === "BACKEND_FAILED",
      );
      process.kill(killed, "SIGKILL");
      await running;
      const { scores } = await backend.score(leavesOfTrees([pair]));
      assert.ok(Number.isFinite(scores[0]));
      assert.notEqual(inferenceProcessOf(process.pid), killed);
      assert.deepEqual(events, ["inference process ended, restarting it"]);
    });

    it("fails a forest that the model cannot take, and goes on", async () => {
      const outside: TokenTree = { ...pair, state: Int32Array.of(1_000_000) };
      await assert.rejects(backend.score(leavesOfTrees([outside])), {
        name: "ServiceError",
        kind: "BACKEND_FAILED",
      });
      assert.equal((await backend.score(leavesOfTrees([pair]))).scores.length, 1);
    });

    it("is gone when the backend is closed", async () => {
      const other = backendFor(tested, modelPackage);
      await other.start();
      const before = childrenOf(process.pid).length;
      await other.close();
      assert.ok(childrenOf(process.pid).length < before);
      await assert.rejects(other.score(leavesOfTrees([pair])), { kind: "BACKEND_FAILED" });
    });
  });

  it("files other than those that the service has verified are refused, also by a later process", async () => {
    const { manifest } = modelPackage;
    const files = { ...manifest.files, "model.safetensors": "0".repeat(64) };
    const other = { ...modelPackage, manifest: { ...manifest, files } };
    const message = /^model\.safetensors in .* does not match the manifest/;
    await assert.rejects(backendFor(tested, other).start(), {
      name: "ServiceError",
      kind: "INVALID_MODEL",
      message,
    });
  });

  describe("a process that is there before the model is known", () => {
    it("is the one that the model is loaded into, and ends with the backend", async () => {
      const first = tested.start();
      const pid = inferenceProcessOf(process.pid);
      const backend = backendFor(tested, modelPackage, [], first);
      await backend.start();
      assert.deepEqual(inferenceProcessesOf(process.pid), [pid]);
      await backend.close();
      assert.ok(!isAlive(pid));
    });

    it("that has died by then fails the start", async () => {
      const first = tested.start();
      const pid = inferenceProcessOf(process.pid);
      process.kill(pid, "SIGKILL");
      await until(() => !isAlive(pid), "the process is gone");
      const message =
        /^The inference process ended while loading the model \(SIGKILL\)\. .*memory ran out\.$/;
      await assert.rejects(backendFor(tested, modelPackage, [], first).start(), {
        kind: "BACKEND_FAILED",
        message,
      });
    });

    it("ends when there is no such model", async () => {
      const options = resolveOptions({ backend: tested.name, "model-path": "/nowhere" });
      const engine = createEngine(options);
      const pid = inferenceProcessOf(process.pid);
      await assert.rejects(engine, { kind: "INVALID_MODEL" });
      await until(() => !isAlive(pid), "the process is gone");
    });
  });
}

/** The same tests in a separate program. */
export function testProgramEnds(tested: TestedBackend): void {
  describe("a program around the backend", () => {
    it("may be given on the command line: its flags are not those of the inference process", () => {
      const said = runProgram(
        tested,
        `
        if (process.env.MALLOC_RUNS_AGAIN) process.exit(9); // a name that the inference process would inherit
        process.env.MALLOC_RUNS_AGAIN = "1";
        await backend.start();
        console.log("loaded");
        await backend.close();
      `,
      );
      assert.deepEqual(said, ["loaded"]);
    });

    it("lets what comes wait once its process cannot be reached, before that has ended", () => {
      const said = runProgram(
        tested,
        `
        const childProcess = (await import("node:child_process")).default;
        const { syncBuiltinESMExports } = await import("node:module");
        const { ${tested.starter}: start } = childProcess;
        let child;
        childProcess.${tested.starter} = (...given) => (child = start(...given));
        syncBuiltinESMExports();
        await backend.start();
        child.${tested.cut};
        console.log(backend.isReady, backend.isExpected, child.exitCode);
        const { nodeBelow } = await import(${quotedUrl("inference/nodes")});
        const leaf = [[101, 102], [102], [101, 102]].map((ids) => Int32Array.from(ids)).reduce(nodeBelow, undefined);
        const { scores } = await backend.score([leaf]);
        console.log(scores.length, backend.isReady);
        await backend.close();
      `,
      );
      assert.deepEqual(said, ["false true null", "1 true"]);
    });

    it("outlives a restart for which there is no file descriptor, and logs why it failed", () => {
      const said = runProgram(
        tested,
        `
        const fs = await import("node:fs");
        const { execFileSync } = await import("node:child_process");
        await backend.start();
        const child = Number(execFileSync("pgrep", ["-P", process.pid, "-f", ${JSON.stringify(tested.command)}]));
        const open = [];
        try {
          for (;;) open.push(fs.openSync("/dev/null"));
        } catch {}
        onLog = (event, { err }) => {
          if (!err) return;
          console.log(err.message);
          for (const descriptor of open.splice(0)) fs.closeSync(descriptor);
        };
        process.kill(child, "SIGKILL");
        while (backend.isReady || open.length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
        while (!backend.isReady) await new Promise((resolve) => setTimeout(resolve, 10));
        console.log("loaded");
        await backend.close();
      `,
      );
      assert.deepEqual(said, ["The inference process could not be started.", "loaded"]);
    });
  });
}

/** Runs the body of a program that has a `backend`, and that may open few files. @returns the lines it printed */
function runProgram({ module, started }: TestedBackend, body: string): string[] {
  const options = {
    modelPackage,
    threads: 1,
    stateCacheBytes: 0,
    hangMs: 60_000,
    loadMs: 60_000,
  };
  const program = `(async () => {
    const { ChildBackend } = await import(${quotedUrl("backends/process/child-backend")});
    const programs = await import(${quotedUrl(module)});
    const { systemClock } = await import(${quotedUrl("inference/clock")});
    let shift = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + shift };
    let onLog = () => {};
    const log = (event, details) => onLog(event, details);
    const backend = new ChildBackend({ ...${JSON.stringify(options)}, startProcess: () => programs.${started}, clock, log });
    ${body}
  })()`;
  const command = ['ulimit -n 256; exec "$@"', "sh", process.execPath, "-e", program];
  const said = execFileSync("sh", ["-c", ...command], { encoding: "utf8", timeout: 60_000 });
  return said.trim().split("\n");
}
