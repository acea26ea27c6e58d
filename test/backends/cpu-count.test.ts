import assert from "node:assert/strict";
import { it } from "node:test";
import { cpuCount, quotaOf } from "../../src/backends/onnx/runtime/cpu-count.ts";

const cases = [
  { text: "max 100000\n", processors: Number.POSITIVE_INFINITY },
  { text: "200000 100000\n", processors: 2 },
  { text: "150000 100000\n", processors: 2 },
  { text: "1000 100000\n", processors: 1 },
  { text: "", processors: Number.POSITIVE_INFINITY },
];
for (const { text, processors } of cases) {
  it(`the quota ${JSON.stringify(text)} means ${processors} processors`, () => {
    assert.equal(quotaOf(text), processors);
  });
}

it("there is at least one processor", () => {
  assert.ok(cpuCount() >= 1);
});
