import assert from "node:assert/strict";
import path from "node:path";
import { describe, test } from "node:test";
import { cpuCount } from "../../src/backends/onnx/runtime/cpu-count.ts";
import { packageRoot } from "../support/package-root.ts";
import { inferenceProcessOf } from "../support/processes.ts";
import { heavy, MARK, NOUL, Service, SMALL, words } from "./service.ts";

/** Asks for one request a batch, and for all that may be logged. */
const FLAGS = ["--max-batch-size", "1", "--log-level", "debug"];

async function withService(
  env: Readonly<Record<string, string>>,
  run: (service: Service) => Promise<void>,
): Promise<void> {
  const service = await Service.start(FLAGS, env);
  try {
    await run(service);
  } finally {
    assert.equal(await service.stop(), 0);
  }
}

/** More than 100 tokens: what a planted fault waits for. */
const POISON = {
  state: `${MARK} ${words(150)} ${MARK}`,
  questions: { [MARK]: { ...NOUL, instructions: MARK, criteria: { true: MARK } } },
};

test("kill -9 while a batch runs: that batch fails with 500, everybody who waits is answered by a new process", async () => {
  await withService({}, async (service) => {
    const { pid } = service.process;
    assert.ok(pid);
    const before = await service.decide(SMALL);
    const killed = inferenceProcessOf(pid);
    const running = service.post("/v1/systemone", heavy(50));
    await service.until(({ running_requests }) => running_requests === 1);
    const waiting = Array.from({ length: 5 }, () => service.post("/v1/systemone", SMALL));
    await service.until(({ queued_requests }) => queued_requests === 5);
    process.kill(killed, "SIGKILL");
    const { status, headers, body } = await running;
    assert.equal(status, 500);
    assert.equal(headers["retry-after"], undefined);
    assert.match(String(body.detail), new RegExp(String(headers["x-request-id"])));
    for (const reply of await Promise.all(waiting)) {
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(reply.body.answers, before.answers);
    }
    assert.notEqual(inferenceProcessOf(pid), killed);
    const health = await service.health();
    assert.deepEqual(
      [health.status, health.completed_requests, health.failed_requests, health.queued_requests],
      ["ready", 6, 1, 0],
    );
  });
});

describe("no text of a request is in what a crash leaves on stderr:", () => {
  const plant = path.join(packageRoot, "test/support/planted-fault.cjs");
  for (const [fault, trace] of [
    ["abort", /"signal":"SIGABRT"/],
    ["segmentation", /"signal":"SIGSEGV"/],
    ["exception", /Error: planted/],
    ["thread ends", /a forward thread ended/],
    ["out of memory", /heap out of memory/],
  ] as const) {
    const isPossible = fault !== "thread ends" || cpuCount() > 1;
    test(fault, { skip: isPossible ? false : "there is one processor" }, async () => {
      const env = { NODE_OPTIONS: `--max-old-space-size=200 --require ${plant} --conditions="${fault}"` };
      await withService(env, async (service) => {
        const [poisoned, ...others] = await Promise.all(
          [POISON, SMALL, SMALL].map((body) => service.post("/v1/systemone", body)),
        );
        assert.equal(poisoned?.status, 500, poisoned?.text);
        for (const { status, text } of others) assert.equal(status, 200, text);
        await service.until(({ status }) => status === "ready");
        assert.match(service.log, trace);
        assert.match(service.log, /inference process ended, restarting it/);
        assert.ok(!service.log.includes(MARK), "the log repeats a text of the request");
      });
    });
  }
});
