import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sessionOptions } from "../../src/backends/onnx/runtime/session-options.ts";

describe("the heap of a session", () => {
  it("is shared on Linux, unless the session has its own", () => {
    assert.equal(sessionOptions(1).enableCpuMemArena, process.platform !== "linux");
    assert.equal(
      sessionOptions(1, { hasOwnHeap: undefined }).enableCpuMemArena,
      process.platform !== "linux",
    );
    assert.equal(sessionOptions(1, { hasOwnHeap: true }).enableCpuMemArena, true);
  });
});
