import assert from "node:assert/strict";
import { test } from "node:test";
import { inferenceProcessOf } from "../support/processes.ts";
import { assertCompanyIsAnswered, assertCrashIsSilent, withService } from "./crashes.ts";
import { heavy, SMALL } from "./service.ts";

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

test("a request that makes the process abort takes nobody with it, and is not tried a third time", () =>
  assertCompanyIsAnswered("abort"));

test("no text of a request is in what an exception leaves on stderr", () =>
  assertCrashIsSilent("exception", /Error: planted/));
