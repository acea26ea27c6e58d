import type { EngineHealth } from "../../../src/inference/ports.ts";
import type { Fault } from "./faulty-service.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { counters } from "./planting.ts";
import { both, health, json } from "./planting-http.ts";
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
export const COUNTER_FAULTS: readonly PlantedFault[] = [
  {
    name: "refused requests counted as completed",
    fault: counting((status) => (status === 422 ? 1 : 0)),
    fails: ["health.counts-successes"],
  },
  {
    name: "rankings not counted as completed",
    fault: counting((status, operation) => (status === 200 && operation === "rank" ? -1 : 0)),
    fails: ["health.counts-successes"],
  },
  {
    name: "each question counted as a completed request",
    fault: counting((status, operation, body) =>
      status === 200 && operation === "systemone" ? (body.match(/"type":/g)?.length ?? 1) - 1 : 0,
    ),
    fails: ["health.counts-successes"],
  },
  {
    name: "refused requests counted as rejected",
    fault: counting((status) => (status === 422 ? 1 : 0), "rejected"),
    fails: ["health.keeps-rejected-requests"],
  },
  {
    name: "refused requests counted as failed",
    fault: counting((status) => (status === 422 ? 1 : 0), "failed"),
    fails: ["health.keeps-failed-requests"],
  },
  {
    name: "answered requests counted as cancelled",
    fault: counting((status) => (status === 200 ? 1 : 0), "cancelled"),
    fails: ["health.keeps-cancelled-requests"],
  },
  {
    name: "reports of health counted as batches",
    fault: counters(({ batches }) => {
      reports += 1;
      return { batches: batches + reports };
    }),
    fails: ["health.counts-no-batches"],
  },
  {
    name: "model_batches stays 0",
    fault: counters(() => ({ batches: 0 })),
    fails: ["health.counts-batches"],
  },
  {
    name: "model_forwards stays 0",
    fault: counters(() => ({ forwards: 0 })),
    fails: ["health.counts-forwards"],
  },
  {
    name: "completed_requests stays 0",
    fault: counters(() => ({ completed: 0 })),
    fails: ["health.counts-successes", "overload.counted"],
  },
  {
    name: "cancelled_requests stays 0",
    fault: counters(() => ({ cancelled: 0 })),
    fails: ["health.counts-cancelled"],
  },
  {
    name: "running_requests never falls to 0",
    fault: counters(({ running }) => ({ running: running + 1 })),
    fails: ["health.idle"],
  },
  {
    name: "queued_requests never falls to 0",
    fault: counters(({ queued }) => ({ queued: queued + 1 })),
    fails: ["health.idle"],
  },
  {
    name: "counters of the report before",
    fault: counters((all) => {
      const last = PASSED.last ?? all;
      PASSED.last = all;
      return last;
    }),
    fails: ["health.counts-at-once"],
  },
  {
    name: "uptime in milliseconds",
    fault: health((body) => void body.set("uptime_seconds", Number(body.get("uptime_seconds")) * 1000)),
    fails: ["health.facts"],
  },
  {
    name: "uptime that stands still",
    fault: health((body) => void body.set("uptime_seconds", 12.5)),
    fails: ["health.facts"],
  },
  {
    name: "entries in a cache that is off",
    fault: counters(({ completed }) => ({ cacheEntries: completed })),
    fails: ["health.cache"],
  },
  {
    name: "hits of a cache that is off",
    fault: counters(({ completed }) => ({ cacheHits: completed })),
    fails: ["health.cache"],
  },
  {
    name: "another queue_capacity beside the limits",
    fault: health((body) => void body.set("queue_capacity", 1000)),
    fails: ["health.limits"],
  },
  {
    name: "another model in /ready",
    fault: json("/ready", (body) => void body.set("model", `acme/Other-1B@${"1".repeat(40)}`)),
    fails: ["health.ready"],
  },
  {
    name: "fewer aliases in /health",
    fault: both(
      json("/health", (body) => void body.set("aliases", [])),
      {},
    ),
    fails: ["health.ready", "model.same-everywhere"],
  },
  {
    name: "another version in /health",
    fault: health((body) => void body.set("version", "9.9.9")),
    fails: ["health.facts"],
  },
  {
    name: "max_nesting one too high",
    fault: health((body) => void inner(body, "limits").set("max_nesting", 101)),
    fails: ["health.limits"],
  },
  {
    name: "max_body_bytes in kilobytes",
    fault: health((body) => void inner(body, "limits").set("max_body_bytes", 2048)),
    fails: ["health.limits"],
  },
  {
    name: "max_state_question_tokens twice as high",
    fault: health((body) => void inner(body, "limits").set("max_state_question_tokens", 4096)),
    fails: [
      "limits.tokens.exact",
      "limits.tokens.instructions",
      "limits.tokens.question",
      "limits.tokens.state",
    ],
  },
  {
    name: "the revision of another model in /v1/models",
    fault: json("/v1/models", (body) => {
      const models = body.get("models");
      if (Array.isArray(models)) inner(models[0]).set("revision", "1".repeat(40));
    }),
    fails: ["model.same-everywhere"],
  },
  {
    name: "the model listed twice, once as another",
    fault: json("/v1/models", (body) => {
      const models = body.get("models");
      if (Array.isArray(models))
        models.push(
          new Map(
            [...inner(models[0])].map(([name, value]) => [
              name,
              name === "id" || name === "name" ? "acme/Other" : value,
            ]),
          ),
        );
    }),
    fails: ["model.same-everywhere"],
  },
];
