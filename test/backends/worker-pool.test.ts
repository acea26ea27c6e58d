import assert from "node:assert/strict";
import { it } from "node:test";
import { areSmall } from "../../src/backends/onnx/forwards/worker-pool.ts";
import { forward, node } from "./tasks.ts";

it("forwards are small up to 255 keys, past ones included; only these run beside other work", () => {
  for (const [keys, isSmall] of [
    [255, true],
    [256, false],
  ] as const) {
    assert.equal(areSmall([[forward({ newPrefix: [node(0, keys)] })]]), isSmall);
    const [past, added] = [node(0, 200), node(1, keys - 200)];
    assert.equal(areSmall([[forward({ pastPrefix: [past], newRest: [added] })]]), isSmall);
  }
});
