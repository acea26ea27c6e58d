import type { EngineHealth } from "../../../src/inference/engine.ts";
import type { Fault } from "./faulty-service.ts";
import { faults, type PlantedFault } from "./planted-fault.ts";
import { counters } from "./planting.ts";
import { health } from "./planting-http.ts";
import { inner } from "./tree.ts";

type Counters = EngineHealth["counters"];
/** Adds to the counters what the answers of the operations make it. */
const counting = (
  more: (status: number, operation: string, body: string) => number,
  counter: keyof Counters = "completed",
): Fault => {
  let added = 0;
  return {
    reply: (reply, { operationId }) => {
      if (operationId === "rank" || operationId === "systemone")
        added += more(reply.status, operationId, reply.body);
      return reply;
    },
    ...counters((all) => ({ [counter]: all[counter] + added })),
  };
};
const PASSED: { last?: Counters } = {};
let reports = 0;

/** Counters and facts of the service that are wrong. */
export const COUNTER_FAULTS: readonly PlantedFault[] = faults({
  "every second request counted as completed: health.counts-successes": counters(({ completed }) => ({
    completed: Math.floor(completed / 2),
  })),
  "refused requests counted as rejected: health.keeps-rejected-requests": counting(
    (status) => (status === 422 ? 1 : 0),
    "rejected",
  ),
  "refused requests counted as failed: health.keeps-failed-requests": counting(
    (status) => (status === 422 ? 1 : 0),
    "failed",
  ),
  "answered requests counted as cancelled: health.keeps-cancelled-requests": counting(
    (status) => (status === 200 ? 1 : 0),
    "cancelled",
  ),
  "reports of health counted as batches: health.counts-no-batches": counters(({ batches }) => {
    reports += 1;
    return { batches: batches + reports };
  }),
  "model_batches stays 0: health.counts-batches": counters(() => ({ batches: 0 })),
  "model_forwards stays 0: health.counts-forwards": counters(() => ({ forwards: 0 })),
  "completed_requests stays 0: health.counts-successes, overload.counted": counters(() => ({ completed: 0 })),
  "cancelled_requests stays 0: health.counts-cancelled": counters(() => ({ cancelled: 0 })),
  "running_requests never falls to 0: health.idle": counters(({ running }) => ({ running: running + 1 })),
  "queued_requests never falls to 0: health.idle": counters(({ queued }) => ({ queued: queued + 1 })),
  "counters of the report before, after one answer: health.counts-at-once": counters((all) => {
    const last = PASSED.last ?? all;
    PASSED.last = all;
    return all.completed === last.completed + 1 ? last : all;
  }),
  "uptime that stands still: health.facts": health((body) => void body.set("uptime_seconds", 12.5)),
  "another version in /health: health.facts": health((body) => void body.set("version", "9.9.9")),
  "entries in a cache that is off: health.cache": counters(({ completed }) => ({ cacheEntries: completed })),
  "hits of a cache that is off: health.cache": counters(({ completed }) => ({ cacheHits: completed })),
  "max_body_bytes in kilobytes: health.limits": health(
    (body) => void inner(body, "limits").set("max_body_bytes", 2048),
  ),
  "max_state_question_tokens twice as high: limits.tokens.instructions, limits.tokens.question": health(
    (body) => void inner(body, "limits").set("max_state_question_tokens", 4096),
  ),
});
