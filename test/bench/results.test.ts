import assert from "node:assert/strict";
import { it } from "node:test";
import { readmes } from "../../scripts/measure/bench-results.ts";

it("the README's table is that of bench/results (npm run bench:results -- --table)", async () => {
  const { wanted, present } = await readmes();
  assert.equal(present, wanted);
});
