import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StandstillWatch } from "../../src/inference/queue/standstill-watch.ts";

const DEADLINE_MS = 1_000;
const PATIENCE_MS = DEADLINE_MS + 30_000;

describe("a standstill", () => {
  const cases = [
    {
      name: "not while nothing is to be done",
      at: 10 * PATIENCE_MS,
      hasWork: false,
      deadlines: [],
      want: false,
    },
    { name: "not while a batch may still end", at: PATIENCE_MS, hasWork: true, deadlines: [], want: false },
    {
      name: "once a batch is later than any may be",
      at: PATIENCE_MS + 1,
      hasWork: true,
      deadlines: [],
      want: true,
    },
    {
      name: "not for a request that is late by moments",
      at: 30_500,
      hasWork: false,
      deadlines: [500],
      want: false,
    },
    {
      name: "once a request was forgotten",
      at: 30_501,
      hasWork: false,
      deadlines: [90_000, 500],
      want: true,
    },
  ];
  for (const { name, at, want, ...signs } of cases)
    it(`is told ${name}`, () => assert.equal(new StandstillWatch(DEADLINE_MS, 0).isStuck(at, signs), want));

  it("is over when work goes on", () => {
    const watch = new StandstillWatch(DEADLINE_MS, 0);
    const signs = { hasWork: true, deadlines: [] };
    assert.equal(watch.isStuck(2 * PATIENCE_MS, signs), true);
    watch.noteProgress(2 * PATIENCE_MS);
    assert.equal(watch.isStuck(2 * PATIENCE_MS, signs), false);
  });
});
