import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineHealth } from "../../../src/inference/ports.ts";
import { runConformance } from "../src/index.ts";
import { type Fault, FaultyService } from "./faulty-service.ts";

type Counters = EngineHealth["counters"];

const COUNTER_CLAUSES = ["health.counts-*", "health.keeps-*", "health.idle"];
/** Failing comparisons watch for seconds. Each has its own service, so that they can wait concurrently. */
const AT_A_TIME = { concurrency: 8 };

/** What a server has received from the checks so far. */
interface Seen {
  inferences: number;
  refusals: number;
  looks: number;
}

/** A fault that reports wrong counters. */
function counters(change: (counters: Counters, seen: Seen) => Partial<Counters>): Fault {
  const seen: Seen = { inferences: 0, refusals: 0, looks: 0 };
  return {
    reply: (reply, { operationId }) => {
      if (operationId === "systemone" || operationId === "rank") seen.inferences += 1;
      if (reply.status === 422) seen.refusals += 1;
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
  only: readonly string[] = COUNTER_CLAUSES,
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

describe("a server that counts wrongly fails, and only where it does:", AT_A_TIME, () => {
  for (const { name, fault, fails } of [
    {
      name: "completed_requests counts refusals too",
      fault: counters(({ completed }, { refusals }) => ({ completed: completed + refusals })),
      fails: ["health.counts-successes"],
    },
    {
      name: "completed_requests counts every second",
      fault: counters(({ completed }) => ({ completed: Math.floor(completed / 2) })),
      fails: ["health.counts-successes"],
    },
    {
      name: "completed_requests counts pairs",
      fault: counters(({ completed }) => ({ completed: completed * 2 })),
      fails: ["health.counts-successes"],
    },
    {
      name: "completed_requests counts looks at /health",
      fault: counters(({ completed }, { looks }) => ({ completed: completed + looks })),
      fails: ["health.counts-successes"],
    },
    {
      name: "model_batches stands still",
      fault: counters(() => ({ batches: 3 })),
      fails: ["health.counts-batches"],
    },
    {
      name: "model_batches counts refusals",
      fault: counters(({ batches }, { refusals }) => ({ batches: batches + refusals })),
      fails: ["health.counts-no-batches"],
    },
    {
      name: "failed_requests counts 422s",
      fault: counters((_, { refusals }) => ({ failed: refusals })),
      fails: ["health.keeps-failed-requests"],
    },
    { name: "running_requests never falls", fault: counters(() => ({ running: 1 })), fails: ["health.idle"] },
  ]) {
    it(name, async () => {
      const outcomes = await outcomesOf(fault);
      const failed = [...outcomes].filter(([, { outcome }]) => outcome === "failed");
      assert.deepEqual(
        failed.map(([id]) => id),
        fails,
      );
    });
  }
});

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
