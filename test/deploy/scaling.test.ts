import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { simulate } from "../../tools/scaling/fleet.ts";
import { ASSUMPTIONS, costTable, measuredRates } from "../../tools/scaling/tables.ts";
import { packageRoot } from "../support/package-root.ts";

const page = (name: string) => readFileSync(path.join(packageRoot, "docs", name), "utf8");
const part = (name: string) =>
  page("scaling.md").split(`<!-- ${name}: begin -->`)[1]?.split(`<!-- ${name}: end -->`)[0]?.trim();

it("docs/scaling.md has the costs that follow from docs/sizing.md", () => {
  const rows = measuredRates(page("sizing.md"));
  assert.equal(rows.length, 6);
  assert.equal(part("cost"), costTable(rows, ASSUMPTIONS));
});

it("the cost is proportional to the price", () => {
  const rows = [{ tokens: 10, questions: 1, newRate: 10, knownRate: 10 }];
  // 10 a second at two thirds of a core: a million takes 41.67 hours
  assert.match(
    costTable(rows, { ...ASSUMPTIONS, price: 2 }),
    /\| 10 \| 1 \| 0 % \| 10\.0 \| 41\.7 \| 83\.33 \| /,
  );
});

it("one replica finds the same however it is chosen, and all states that fit are found", () => {
  const one = { replicas: 1, cacheStates: 50, exponent: 1 };
  const found = (["random", "hash", "bounded hash"] as const).map(
    (route) => simulate({ ...one, route }).busiest,
  );
  assert.deepEqual(found, [1, 1, 1]);
  const all = simulate({ replicas: 2, cacheStates: 100_000, exponent: 1.2, route: "hash" });
  assert.ok(all.hitRate > 0.9);
});
