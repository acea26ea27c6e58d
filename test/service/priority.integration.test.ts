import assert from "node:assert/strict";
import os from "node:os";
import { test } from "node:test";
import { inferenceProcessesOf, inferenceProcessOf, until } from "../support/processes.ts";
import { Service, SMALL } from "./service.ts";

test("the inference process has a lower priority than the service, also the one that replaces it", {
  skip: process.platform === "win32" && "there is no `ps`",
}, async () => {
  const service = await Service.start();
  try {
    const pid = service.process.pid ?? 0;
    const first = inferenceProcessOf(pid);
    const wanted = os.getPriority(pid) + 5;
    assert.equal(os.getPriority(first), wanted);
    process.kill(first, "SIGKILL");
    await until(() => inferenceProcessesOf(pid).some((each) => each !== first), "it is replaced");
    await service.decide(SMALL);
    assert.equal(os.getPriority(inferenceProcessOf(pid)), wanted);
  } finally {
    assert.equal(await service.stop(), 0);
  }
});
