import assert from "node:assert/strict";
import { it } from "node:test";
import { performancePage } from "../../scripts/measure/bench-results.ts";

it("the table of docs/performance.md shows bench/results (npm run bench:results -- --table)", async () => {
  const { wanted, present } = await performancePage();
  assert.equal(present, wanted);
});
