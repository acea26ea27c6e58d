import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { ChildBackend } from "../../src/backends/process/child-backend.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { FakeClock, settle } from "../inference/fake-clock.ts";
import { embeddedModel, packageRoot } from "../support/package-root.ts";
import { inferenceProcessOf, isAlive, until } from "../support/processes.ts";
import { quotedUrl } from "../support/source-url.ts";
import type { TestedBackend } from "../support/tested-backends.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";

const modelPackage = await openModelPackage(embeddedModel);
const HANG_MS = 65_000;
const LOAD_MS = 60_000;
const FAILED = { name: "ServiceError", kind: "BACKEND_FAILED" };

const pair: TokenTree = {
  state: Int32Array.of(101, 2026, 102),
  questions: [{ tokens: Int32Array.of(2029, 102), candidates: [Int32Array.of(101, 2053, 102)] }],
};

/** A backend with a fake clock and real processes. */
class Bench {
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  readonly #stopped: number[] = [];
  readonly backend: ChildBackend;

  constructor({ start }: TestedBackend) {
    this.backend = new ChildBackend({
      modelPackage,
      startProcess: start,
      threads: 2,
      stateCacheBytes: 0,
      hangMs: HANG_MS,
      loadMs: LOAD_MS,
      clock: this.clock,
      log: (event, { err }) => {
        this.events.push(err instanceof Error ? `${event}: ${err.message}` : event);
      },
    });
  }

  /** The id of the new process, while it loads the model. */
  get process(): number {
    return inferenceProcessOf(process.pid);
  }

  /** Stops the process. @returns its id */
  stop(): number {
    const pid = this.process;
    process.kill(pid, "SIGSTOP");
    this.#stopped.push(pid);
    return pid;
  }

  /** Ends all processes, also stopped ones that the backend failed to kill. */
  async close(): Promise<void> {
    for (const pid of this.#stopped.filter(isAlive)) process.kill(pid, "SIGKILL");
    await this.backend.close();
  }

  async untilEvent(count: number): Promise<void> {
    await until(() => this.events.length >= count, `${count} events: ${this.events}`);
  }
}

/** Tests what happens if a process of the backend hangs or sends nothing. */
export function testHangs(tested: TestedBackend): void {
  describe("an inference process that hangs", () => {
    let bench: Bench;
    before(() => {
      bench = new Bench(tested);
    });
    after(() => bench.close());

    it("in a run is killed, the run fails, and the next one is answered by a new process that starts at once", async () => {
      const { backend, clock, events } = bench;
      await backend.start();
      const stopped = bench.stop();
      const rejected = assert.rejects(backend.score(leavesOfTrees([pair])), FAILED);
      await settle(); // it has been sent
      clock.advance(HANG_MS - 1);
      await settle();
      assert.deepEqual(events, []);
      clock.advance(1);
      assert.equal(backend.isReady, false, "it is killed, but not gone yet");
      await until(() => !isAlive(stopped), "the process is gone");
      await rejected;
      assert.deepEqual(events, ["inference process is killed", "inference process ended, restarting it"]);
      clock.advance(0);
      assert.equal((await backend.score(leavesOfTrees([pair]))).scores.length, 1);
    });

    it("while it loads the model again is killed, and the next one starts after a bounded wait", async () => {
      const { backend, clock, events } = bench;
      events.length = 0;
      process.kill(bench.process, "SIGKILL");
      await bench.untilEvent(1);
      clock.advance(200);
      await settle();
      bench.stop();
      clock.advance(LOAD_MS);
      await bench.untilEvent(2);
      assert.match(events[1] ?? "", /could not be restarted: .* did not load the model within 60 s/);
      assert.equal(backend.isReady, false);
      clock.advance(200);
      assert.equal((await backend.score(leavesOfTrees([pair]))).scores.length, 1);
    });
  });

  describe("an inference process that is stopped while it has nothing to do", () => {
    const bench = new Bench(tested);
    const { backend, clock, events } = bench;
    let told = 0;
    before(async () => {
      await backend.start();
      backend.onReady(() => {
        told += 1;
      });
    });
    after(() => bench.close());

    it("is not ready after three seconds, and ready again when it answers", async () => {
      clock.advance(1_000);
      await backend.score(leavesOfTrees([pair])); // it has answered the heartbeat before
      clock.advance(2_000);
      assert.equal(backend.isReady, true, "it answers");
      await backend.score(leavesOfTrees([pair]));
      bench.stop();
      clock.advance(2_999);
      assert.equal(backend.isReady, true);
      clock.advance(1);
      assert.equal(backend.isReady, false);
      assert.equal(backend.isExpected, true);
      process.kill(bench.process, "SIGCONT");
      await until(() => backend.isReady, "it answers again");
      assert.equal(told, 1, "whoever waits is told");
      assert.deepEqual(events, []);
    });

    it("is killed after six, and the next one answers", async () => {
      await backend.score(leavesOfTrees([pair]));
      const stopped = bench.stop();
      clock.advance(6_000);
      assert.deepEqual(events, ["inference process is killed"]);
      assert.equal(backend.isReady, false);
      await bench.untilEvent(2);
      assert.ok(!isAlive(stopped));
      clock.advance(0);
      assert.equal((await backend.score(leavesOfTrees([pair]))).scores.length, 1);
      assert.equal(backend.isReady, true);
    });
  });
}

/** Further tests, each with its own process. */
export function testOtherHangs(tested: TestedBackend): void {
  it("a first process that hangs while it loads the model ends the start with an error", async () => {
    const bench = new Bench(tested);
    const started = bench.backend.start();
    const first = bench.stop();
    bench.clock.advance(LOAD_MS);
    const message = /^The inference process did not load the model within 60 s\./;
    await assert.rejects(started, { ...FAILED, message });
    await until(() => !isAlive(first), "the process is gone");
    await bench.backend.close();
    assert.equal(bench.clock.timerCount, 0);
  });

  it("a process that gets no more memory fails that run, and the next one is answered", async (t) => {
    const bench = new Bench(tested);
    const { backend, clock } = bench;
    await backend.start();
    try {
      execFileSync("prlimit", ["--pid", String(bench.process), "--as=1000000"]);
    } catch {
      await backend.close();
      return t.skip("prlimit is not on this machine");
    }
    const state = Int32Array.from({ length: 2000 }, (_, i) => 2000 + i);
    const large = { state, questions: [{ tokens: state, candidates: [state, state] }] };
    await assert.rejects(backend.score(leavesOfTrees([large])), FAILED);
    // it may have survived failed allocations, which still count towards the limit
    if (backend.isReady) process.kill(bench.process, "SIGKILL");
    await bench.untilEvent(1); // it has ended, rather than just not answering
    clock.advance(100);
    assert.equal((await backend.score(leavesOfTrees([pair]))).scores.length, 1);
    await backend.close();
  });

  for (const fault of ["none", "hang"] as const) {
    it(`the death of the service leaves no inference process behind (planted fault: ${fault})`, async () => {
      const service = runService(tested, fault);
      const child = inferenceProcessOf(await service.started);
      assert.ok(isAlive(child));
      service.kill();
      try {
        await until(() => !isAlive(child), "the orphan is gone");
      } finally {
        if (isAlive(child)) process.kill(child, "SIGKILL");
      }
    });
  }
}

/** Starts a program with a backend that reports when it has sent a run, which triggers the fault if one is planted. */
function runService(
  { module, started: startCall, planted }: TestedBackend,
  fault: "none" | "hang",
): { readonly started: Promise<number>; kill(): void } {
  const options = {
    modelPackage,
    threads: 1,
    stateCacheBytes: 0,
    hangMs: 1e8,
    loadMs: 1e8,
  };
  const program = `(async () => {
    const { ChildBackend } = await import(${quotedUrl("backends/process/child-backend")});
    const programs = await import(${quotedUrl(module)});
    const { systemClock: clock } = await import(${quotedUrl("inference/clock")});
    const backend = new ChildBackend({ ...${JSON.stringify(options)}, startProcess: () => programs.${startCall}, clock, log: () => {} });
    const { nodeBelow } = await import(${quotedUrl("inference/nodes")});
    await backend.start();
    const state = nodeBelow(undefined, new Int32Array(101).fill(2026));
    backend.score([nodeBelow(nodeBelow(state, Int32Array.of(102)), Int32Array.of(101))]).catch(() => {});
    setTimeout(() => console.log("sent"), 100);
    setInterval(() => {}, 1000);
  })()`;
  const child = spawn(process.execPath, ["-e", program], {
    cwd: packageRoot,
    env: { ...process.env, ...(fault === "none" ? {} : planted(fault)) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { pid } = child;
  assert.ok(pid);
  const started = once(createInterface({ input: child.stdout }), "line").then(() => pid);
  return { started, kill: () => child.kill("SIGKILL") };
}
