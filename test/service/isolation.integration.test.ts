import assert from "node:assert/strict";
import os from "node:os";
import { test } from "node:test";
import { HeldMessages } from "../support/held-messages.ts";
import { inferenceProcessOf } from "../support/processes.ts";
import { withService } from "./crashes.ts";
import { SMALL } from "./service.ts";

const PRIORITY = process.platform === "win32" ? 0 : 5;

test("kill -9 while a batch runs: everybody is answered by a new process of a lower priority, also those of that batch", async (t) => {
  const held = await HeldMessages.create("load", "score");
  t.after(() => held.remove());
  await withService(held.env, async (service) => {
    const { pid } = service.process;
    assert.ok(pid);
    const before = await service.decide(SMALL);
    const killed = inferenceProcessOf(pid);
    const priority = os.getPriority(pid) + PRIORITY;
    assert.equal(os.getPriority(killed), priority);
    await held.hold("score");
    const running = service.post("/v1/systemone", SMALL);
    await service.until(({ running_requests }) => running_requests === 1);
    const waiting = Array.from({ length: 5 }, () => service.post("/v1/systemone", SMALL));
    await service.until(({ queued_requests }) => queued_requests === 5);
    process.kill(killed, "SIGKILL");
    await held.release("score");
    for (const reply of await Promise.all(waiting)) {
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(reply.body.answers, before.answers);
    }
    const { status, text } = await running;
    assert.equal(status, 200, text.slice(0, 500));
    assert.notEqual(inferenceProcessOf(pid), killed);
    assert.equal(os.getPriority(inferenceProcessOf(pid)), priority);
    const health = await service.health();
    assert.deepEqual(
      [health.status, health.completed_requests, health.failed_requests, health.queued_requests],
      ["ready", 7, 0, 0],
    );
  });
});
