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
  flags: readonly string[] = FLAGS,
): Promise<void> {
  const service = await Service.start(flags, env);
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

test("kill -9 while a batch runs: everybody is answered by a new process, also those of that batch", async () => {
  await withService({}, async (service) => {
    const { pid } = service.process;
    assert.ok(pid);
    const before = await service.decide(SMALL);
    const killed = inferenceProcessOf(pid);
    const running = service.post("/v1/systemone", heavy(6));
    await service.until(({ running_requests }) => running_requests === 1);
    const waiting = Array.from({ length: 5 }, () => service.post("/v1/systemone", SMALL));
    await service.until(({ queued_requests }) => queued_requests === 5);
    process.kill(killed, "SIGKILL");
    for (const reply of await Promise.all(waiting)) {
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(reply.body.answers, before.answers);
    }
    const { status, text } = await running;
    assert.equal(status, 200, text.slice(0, 500));
    assert.notEqual(inferenceProcessOf(pid), killed);
    const health = await service.health();
    assert.deepEqual(
      [health.status, health.completed_requests, health.failed_requests, health.queued_requests],
      ["ready", 7, 0, 0],
    );
  });
});

const plant = path.join(packageRoot, "test/support/planted-fault.cjs");

for (const fault of ["abort", "hang"]) {
  test(`a request that makes the process ${fault} takes nobody with it, and is not tried a third time`, async () => {
    const env = { NODE_OPTIONS: `--require ${plant} --conditions="${fault}"` };
    // the wait brings all of them into one batch
    const flags = ["--batch-wait-ms", "1000", "--log-level", "debug"];
    const run = async (service: Service) => {
      const companions = Array.from({ length: 12 }, (_, at) => ({
        ...SMALL,
        state: `Parcel ${at} is here.`,
      }));
      const wanted = await Promise.all(companions.map((body) => service.decide(body)));
      // how long a run takes is known after three
      for (let run = 0; run < 3; run++) await service.decide(SMALL);
      const { model_batches: batches } = await service.health();
      const innocent = companions.map((body) => service.post("/v1/systemone", body));
      const { status, headers, body } = await service.post("/v1/systemone", POISON);
      assert.equal(status, 500);
      assert.equal(headers["retry-after"], undefined);
      assert.match(String(body.detail), new RegExp(String(headers["x-request-id"])));
      for (const [at, reply] of (await Promise.all(innocent)).entries()) {
        assert.equal(reply.status, 200, reply.text);
        assert.deepEqual(reply.body.answers, wanted[at]?.answers);
      }
      assert.equal(service.log.split("inference process ended, restarting it").length - 1, 2);
      await service.until((health) => health.status === "ready");
      const health = await service.health();
      assert.deepEqual(
        [health.failed_requests, health.completed_requests, health.running_requests],
        [1, 12 + 3 + 12, 0],
      );
      assert.equal(Number(health.model_batches) - Number(batches), 1 + 13, "one in company, then each alone");
    };
    await withService(env, run, flags);
  });
}

describe("no text of a request is in what a crash leaves on stderr:", () => {
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
