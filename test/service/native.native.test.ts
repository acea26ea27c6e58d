import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { testedDevice } from "../support/native.ts";
import { inferenceProcessOf } from "../support/processes.ts";
import { assertNear, nativeBackend } from "../support/tested-backends.ts";
import { assertCompanyIsAnswered, assertCrashIsSilent, withService } from "./crashes.ts";
import { type Answer, heavy, SMALL } from "./service.ts";

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
    [...nativeBackend.flags, "--max-batch-size", "1"],
  );
});

describe("a request takes nobody with it, and is not tried a third time, if it makes the worker", () => {
  for (const fault of ["abort", "hang", "nan"] as const)
    it(fault === "nan" ? "give scores that are no numbers" : fault, () =>
      assertCompanyIsAnswered(fault, nativeBackend),
    );
});

describe("no text of a request is in what the worker leaves on stderr:", () => {
  for (const [fault, trace, isDeath] of [
    ["segmentation", /"signal":"SIGSEGV"/, true],
    ["exception", /planted/, false],
  ] as const)
    it(fault, () =>
      assertCrashIsSilent(fault, trace, {
        env: nativeBackend.planted(fault),
        flags: nativeBackend.flags,
        isDeath,
      }),
    );
});
