import assert from "node:assert/strict";
import { it } from "node:test";
import { inRounds, QUICK } from "../../bench/effort.ts";

it("two servers are compared in more rounds of the same time in all", () => {
  const effort = inRounds(QUICK, 5);
  assert.equal(effort.httpRounds, 5);
  assert.equal(effort.closedMs * 5, QUICK.closedMs * QUICK.httpRounds);
  assert.equal(effort.openMs * 5, QUICK.openMs * QUICK.httpRounds);
  assert.deepEqual(inRounds(effort, 5), effort);
});
