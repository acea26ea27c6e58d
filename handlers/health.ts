import type { components } from "../generated/types.ts";
import type { Handler, Reply, Services } from "../src/contract/call.ts";
import { REQUEST_LIMITS } from "../src/decisions/request.ts";
import type { Tuning } from "../src/decisions/tuning.ts";

type Health = components["schemas"]["Health"];

/** The answer of /health and /ready: 503 unless ready. */
export function healthReply(services: Services): Reply<"getHealth"> & Reply<"getReady"> {
  const body = healthReport(services);
  return body.status === "ready"
    ? { status: 200, body }
    : {
        status: 503,
        body,
        headers: { "retry-after": "1", "x-decision-error": UNREADY_CODES[body.status] },
      };
}

/** The code of an error by status. While the model is loaded again after a crash, requests wait. */
const UNREADY_CODES = { starting: "STARTING", draining: "DRAINING", failed: "BACKEND_FAILED" } as const;

/** Never contains content of a request. */
function healthReport({ engine, version, areKeysCurrent }: Services): Health {
  const { model, tuning } = engine;
  const { settings, counters, ...health } = engine.health();
  return {
    status: health.status,
    model: model.id,
    aliases: [...model.aliases],
    backend: health.backend,
    device: health.device,
    precision: health.precision,
    strict: settings.strict,
    temperature: model.temperature,
    version,
    model_version: model.version,
    uptime_seconds: health.uptimeSeconds,
    limits: {
      max_body_bytes: REQUEST_LIMITS.maxBodyBytes,
      max_nesting: REQUEST_LIMITS.maxNesting,
      max_questions: REQUEST_LIMITS.maxQuestions,
      min_candidates: REQUEST_LIMITS.minCandidates,
      max_candidates: REQUEST_LIMITS.maxCandidates,
      max_pairs: REQUEST_LIMITS.maxPairs,
      max_state_question_tokens: model.limits.maxStateQuestionTokens,
      max_candidate_tokens: model.limits.maxCandidateTokens,
      deadline_seconds: settings.deadlineMs / 1000,
      queue_capacity: settings.queueCapacity,
      max_batch_requests: settings.maxBatchRequests,
      max_batch_tokens: settings.maxBatchTokens,
      batch_wait_ms: settings.batchWaitMs,
    },
    queued_requests: counters.queued,
    queue_capacity: settings.queueCapacity,
    running_requests: counters.running,
    estimated_wait_seconds: counters.estimatedWaitMs / 1000,
    completed_requests: counters.completed,
    rejected_requests: counters.rejected,
    timed_out_requests: counters.timedOut,
    failed_requests: counters.failed,
    cancelled_requests: counters.cancelled,
    model_batches: counters.batches,
    model_forwards: counters.forwards,
    cache_size: settings.cacheSize,
    cache_entries: counters.cacheEntries,
    cache_hits: counters.cacheHits,
    ...(health.memoryBytes !== undefined && { model_memory_bytes: health.memoryBytes }),
    ...keysReport(areKeysCurrent?.()),
    ...tuningReport(tuning),
  };
}

/** The member `keys_file`, where there is such a file. */
function keysReport(areCurrent: boolean | undefined): Pick<Health, "keys_file"> {
  return areCurrent === undefined ? {} : { keys_file: areCurrent ? "current" : "outdated" };
}

/** The member `tuning`, where there is one. */
export function tuningReport(tuning: Tuning | undefined): Pick<Health, "tuning"> {
  if (tuning === undefined) return {};
  return { tuning: tuning.facts.map(({ form, ...facts }) => ({ ...facts, type: form })) };
}

/** Whether the service takes requests, with its counters. */
export const getHealth: Handler<"getHealth"> = async (services) => healthReply(services);

/** The same as getHealth, for readiness probes. */
export const getReady: Handler<"getReady"> = async (services) => healthReply(services);

/** Whether this process can be expected to go on. It can while the model loads, and while it shuts down. */
export const getLivez: Handler<"getLivez"> = async ({ engine }) =>
  engine.health().isStuck
    ? {
        status: 503,
        body: { status: "stuck" },
        headers: { "retry-after": "1", "x-decision-error": "INTERNAL" },
      }
    : { status: 200, body: { status: "live" } };
