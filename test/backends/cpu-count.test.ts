import assert from "node:assert/strict";
import { it } from "node:test";
import { cpuCount, groupsOf, quotaOf } from "../../src/backends/onnx/runtime/cpu-count.ts";

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

for (const { name, text, groups } of [
  { name: "a container", text: "0::/\n", groups: [""] },
  {
    name: "a unit of systemd",
    text: "0::/system.slice/decision.service\n",
    groups: ["", "/system.slice", "/system.slice/decision.service"],
  },
  { name: "a group outside of the container", text: "0::/../other\n", groups: ["", "/other"] },
  { name: "both versions", text: "4:cpu:/a\n0::/b\n", groups: ["", "/b"] },
  { name: "another system", text: "", groups: [""] },
]) {
  it(`the quotas of ${name} are those of its group and the groups around it`, () => {
    assert.deepEqual(groupsOf(text), groups);
  });
}
