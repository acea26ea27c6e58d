import assert from "node:assert/strict";
import { test } from "node:test";
import { testedDevice } from "../support/native.ts";
import { inferenceProcessOf } from "../support/processes.ts";
import { withService } from "./crashes.ts";
import { type Answer, heavy, SMALL } from "./service.ts";

const NATIVE = ["--backend", "native", "--device", testedDevice, "--precision", "fp32"];

function assertNear(
  answers: Readonly<Record<string, Answer>>,
  wanted: Readonly<Record<string, Answer>>,
): void {
  assert.deepEqual(Object.keys(answers), Object.keys(wanted));
  for (const [name, { probabilities, ...answer }] of Object.entries(answers)) {
    assert.equal(answer.choice, wanted[name]?.choice);
    for (const [label, probability] of Object.entries(probabilities))
      assert.ok(Math.abs(probability - (wanted[name]?.probabilities[label] ?? Number.NaN)) < 1e-5, label);
  }
}

test("the service answers as with onnx in fp32, says what it computes on, and survives the death of the worker", async () => {
  let wanted: Readonly<Record<string, Answer>> = {};
  await withService(
    {},
    async (service) => {
      wanted = (await service.decide(SMALL)).answers;
    },
    ["--precision", "fp32"],
  );
  await withService(
    {},
    async (service) => {
      const { pid } = service.process;
      assert.ok(pid);
      assertNear((await service.decide(SMALL)).answers, wanted);
      const { backend, device, precision } = await service.health();
      const shown = testedDevice === "cuda" ? "cuda:0" : testedDevice;
      assert.deepEqual([backend, device, precision], ["native", shown, "fp32"]);
      const killed = inferenceProcessOf(pid);
      const running = service.post("/v1/systemone", heavy(2));
      await service.until(({ running_requests }) => running_requests === 1);
      const waiting = Array.from({ length: 3 }, () => service.post("/v1/systemone", SMALL));
      await service.until(({ queued_requests }) => queued_requests === 3);
      process.kill(killed, "SIGKILL");
      for (const reply of await Promise.all(waiting)) {
        assert.equal(reply.status, 200, reply.text);
        assertNear(reply.body.answers, wanted);
      }
      const { status, text } = await running;
      assert.equal(status, 200, text.slice(0, 500));
      assert.notEqual(inferenceProcessOf(pid), killed);
    },
    [...NATIVE, "--max-batch-size", "1"],
  );
});
