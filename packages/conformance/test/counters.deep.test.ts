import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineHealth } from "../../../src/inference/engine.ts";
import { runConformance } from "../src/index.ts";
import { type Fault, FaultyService } from "./faulty-service.ts";

type Counters = EngineHealth["counters"];

/** Failing comparisons watch for seconds. Each has its own service, so that they can wait concurrently. */
const AT_A_TIME = { concurrency: 8 };

/** What a server has received from the checks so far. */
interface Seen {
  inferences: number;
  looks: number;
}

/** A fault that reports wrong counters. */
function counters(change: (counters: Counters, seen: Seen) => Partial<Counters>): Fault {
  const seen: Seen = { inferences: 0, looks: 0 };
  return {
    reply: (reply, { operationId }) => {
      if (operationId === "systemone" || operationId === "rank") seen.inferences += 1;
      return reply;
    },
    health: (health) => {
      seen.looks += 1;
      return { ...health, counters: { ...health.counters, ...change(health.counters, seen) } };
    },
  };
}

/** Outcomes of the clauses about counters, by id. */
async function outcomesOf(
  fault: Fault,
  only: readonly string[],
): Promise<ReadonlyMap<string, { outcome: string; came: string }>> {
  const service = await FaultyService.start();
  service.plant(fault);
  try {
    const { results } = await runConformance({ baseUrl: service.url, only });
    return new Map(results.map(({ id, outcome, came }) => [id, { outcome, came }]));
  } finally {
    await service.stop();
  }
}

/** A counter grows at every so many looks, as with other users. */
const LOOKS_APART = 7;
/** Inferences before the first check, which gather the run's facts. */
const FIRST_INFERENCES = 2;

describe("a right server that others use is not reported broken:", AT_A_TIME, () => {
  for (const { name, fault, want } of [
    ...(["completed", "batches"] as const).map((counter) => ({
      name: `one request of others, which adds to ${counter} in the middle of the first comparison`,
      fault: counters((right, { inferences }) => ({
        ...right,
        [counter]: right[counter] + (inferences > FIRST_INFERENCES + 1 ? 1 : 0),
      })),
      want: { [counter === "batches" ? "health.counts-no-batches" : "health.counts-successes"]: "passed" },
    })),
    {
      name: "requests of others all the time, more of them while the checks ask",
      fault: counters(({ completed, batches }, { inferences, looks }) => {
        const others = inferences + Math.floor(looks / LOOKS_APART);
        return { completed: completed + others, batches: batches + others, running: 1 };
      }),
      want: {
        "health.counts-successes": "skipped",
        "health.counts-no-batches": "skipped",
        "health.idle": "skipped",
      },
    },
    {
      name: "others cancel requests",
      fault: counters((_, { inferences, looks }) => ({
        cancelled: inferences + Math.floor(looks / LOOKS_APART),
      })),
      want: { "health.keeps-cancelled-requests": "skipped", "health.counts-successes": "passed" },
    },
    {
      name: "a long request of others, which ends after the first comparison",
      // each comparison of the gauges sends one inference
      fault: counters((_, { inferences }) => ({ running: inferences > FIRST_INFERENCES + 1 ? 0 : 1 })),
      want: { "health.idle": "passed" },
    },
  ]) {
    it(name, async () => {
      const outcomes = await outcomesOf(fault, Object.keys(want));
      for (const [id, outcome] of Object.entries(want))
        assert.equal(outcomes.get(id)?.outcome, outcome, `${id}: ${outcomes.get(id)?.came}`);
    });
  }
});
