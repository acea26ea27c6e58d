import {
  type CollectFunction,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from "prom-client";
import type { InferenceFacts } from "../../contract/call.ts";
import type { ServedEngine } from "../../inference/engine.ts";
import type { BatchFacts } from "../../inference/queue/scheduler.ts";
import type { RequestRecord } from "../../server/request-record.ts";
import { type Exposition, type Metric, TextFormats } from "./exposition.ts";

/** Seconds. Chosen: a small request alone takes some 10 ms, a deadline is 60 s. */
const TIMES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Seconds. Tokens of known texts take some 10 microseconds. */
const SHORT_TIMES = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const TOKENS = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

/**
 * Interval of the timer that measures the lag of the event loop. The measured values include it. Chosen: prom-client's
 * default of 10 ms wakes an idle service a hundred times a second.
 */
const LAG_INTERVAL_MS = 50;

const INFERENCE = ["systemone", "rank"] as const;

/** Facts of a service that its engine does not know. */
export interface ServiceFacts {
  /** Lines of its log that could not be written. */
  lostLines(): number;
  /** Whether the accepted keys are those of the file of keys; true without one. */
  areKeysCurrent(): boolean;
}

/**
 * The metrics of one service. Counters that the engine keeps anyway are read when somebody asks for them; the rest is
 * noted request by request and batch by batch. Labels come from the contract, the options and the model, never from a
 * request.
 */
export class ServiceMetrics {
  readonly #formats: TextFormats;
  readonly #own = {
    requests: counter("decision_requests_total", "Answered HTTP requests", ["operation", "status"]),
    duration: histogram(
      "decision_request_duration_seconds",
      "From the headers of an inference request to its answer, of those answered with 200",
      TIMES,
      ["operation"],
    ),
    queue: histogram("decision_queue_duration_seconds", "From tokens to the first batch", TIMES),
    tokenize: histogram(
      "decision_tokenize_duration_seconds",
      "From a place in the queue to tokens",
      SHORT_TIMES,
    ),
    inference: histogram(
      "decision_inference_duration_seconds",
      "From the first batch to the last score",
      TIMES,
    ),
    tokens: counter(
      "decision_input_tokens_total",
      "Tokens of the scored pairs, as usage.input_tokens counts them",
    ),
    pairs: counter("decision_pairs_total", "Pairs of answered requests by where their score came from", [
      "source",
    ]),
    indistinct: counter(
      "decision_indistinct_questions_total",
      "Answered questions with candidates that are the same tokens to the model",
    ),
    batchRequests: histogram("decision_batch_requests", "Requests in a batch", COUNTS.slice(0, 6)),
    batchPairs: histogram("decision_batch_pairs", "Pairs in a batch", COUNTS),
    batchTokens: histogram("decision_batch_tokens", "New tokens in a batch", TOKENS),
    batchDuration: histogram(
      "decision_batch_duration_seconds",
      "From sending a batch to the inference process to its scores",
      TIMES,
    ),
  };

  /** @param version of the service */
  constructor(engine: ServedEngine, version: string, { lostLines, areKeysCurrent }: ServiceFacts) {
    for (const operation of INFERENCE) this.#own.duration.zero({ operation });
    for (const source of ["computed", "cached"]) this.#own.pairs.inc({ source }, 0);
    engine.onBatch((batch) => this.#noteBatch(batch));
    this.#formats = new TextFormats([
      ...Object.values(this.#own),
      ...engineMetrics(engine, version),
      readCounter("decision_log_lines_lost_total", "Lines of the log that could not be written", lostLines),
      gauge(
        "decision_keys_file_current",
        "1 while the accepted keys are those of the file of keys, or there is none, else 0",
        () => Number(areKeysCurrent()),
      ),
      ...processMetrics(),
    ]);
  }

  /** @param accept the request's header: it decides between the two text formats */
  write(accept?: string): Promise<Exposition> {
    return this.#formats.write(accept);
  }

  noteRequest({ operation = "none", status, ms, inferences = [] }: RequestRecord): void {
    this.#own.requests.inc({ operation, status: String(status) });
    if (inferences.length > 0) this.#own.duration.observe({ operation }, ms / 1000);
    for (const facts of inferences) this.#noteInference(facts);
  }

  #noteInference({ timing, inputTokens, pairs, cachedPairs, indistinct }: InferenceFacts): void {
    this.#own.queue.observe(timing.queue / 1000);
    this.#own.tokenize.observe(timing.tokenize / 1000);
    this.#own.inference.observe(timing.inference / 1000);
    this.#own.tokens.inc(inputTokens);
    this.#own.indistinct.inc(indistinct ?? 0);
    if (cachedPairs > 0) this.#own.pairs.inc({ source: "cached" }, cachedPairs);
    if (pairs > cachedPairs) this.#own.pairs.inc({ source: "computed" }, pairs - cachedPairs);
  }

  #noteBatch({ requests, pairs, tokens, ms }: BatchFacts): void {
    this.#own.batchRequests.observe(requests);
    this.#own.batchPairs.observe(pairs);
    this.#own.batchTokens.observe(tokens);
    this.#own.batchDuration.observe(ms / 1000);
  }
}

/** What is read from the engine when somebody asks. */
function engineMetrics(engine: ServedEngine, version: string): readonly Metric[] {
  const counters = () => engine.health().counters;
  const settings = () => engine.health().settings;
  const backend = () => engine.measurements().backend;
  const texts = () => engine.measurements().texts;
  const health = engine.health();
  const model = {
    model: engine.model.id,
    model_version: engine.model.version,
    backend: health.backend,
    device: health.device,
    precision: health.precision,
    version,
  };
  return [
    info("decision_model_info", "The served model and this service", model),
    gauge("decision_ready", "1 while requests are taken, else 0", () =>
      Number(engine.health().status === "ready"),
    ),
    gauge("decision_queue_requests", "Requests that wait", () => counters().queued),
    gauge("decision_queue_capacity", "Requests that may wait", () => settings().queueCapacity),
    gauge("decision_running_requests", "Requests in a batch", () => counters().running),
    gauge(
      "decision_estimated_wait_seconds",
      "How long all that waits and runs will take",
      () => counters().estimatedWaitMs / 1000,
    ),
    outcomes(engine),
    readCounter("decision_batches_total", "Batches sent to the model", () => counters().batches),
    readCounter("decision_forwards_total", "Runs of the model", () => counters().forwards),
    readCounter("decision_score_cache_hits_total", "Pairs whose score was known", () => counters().cacheHits),
    gauge("decision_score_cache_entries", "Scores in the cache", () => counters().cacheEntries),
    gauge("decision_score_cache_capacity", "Scores that the cache may hold", () => settings().cacheSize),
    readCounter(
      "decision_state_cache_hits_total",
      "States whose encoding was known",
      () => backend().stateHits,
    ),
    readCounter(
      "decision_state_cache_misses_total",
      "States encoded to be kept",
      () => backend().stateMisses,
    ),
    readCounter("decision_token_cache_hits_total", "Texts whose tokens were known", () => texts().hits),
    readCounter("decision_token_cache_misses_total", "Texts that were tokenized", () => texts().misses),
    readCounter(
      "decision_inference_process_restarts_total",
      "Inference processes started in place of one that had ended",
      () => backend().restarts,
    ),
    gauge(
      "decision_inference_process_resident_memory_bytes",
      "Memory of the inference process as it last told; 0 while there is none",
      () => backend().residentBytes,
    ),
  ];
}

/** How admitted requests ended. */
function outcomes(engine: ServedEngine): Metric {
  return new Counter({
    name: "decision_request_outcomes_total",
    help: "Inference requests by how they ended; invalid ones are not counted here",
    labelNames: ["outcome"],
    registers: [],
    collect() {
      const { completed, rejected, timedOut, failed, cancelled } = engine.health().counters;
      this.reset();
      for (const [outcome, count] of Object.entries({
        completed,
        rejected,
        timed_out: timedOut,
        failed,
        cancelled,
      }))
        this.inc({ outcome }, count);
    },
  });
}

let ofProcess: readonly Metric[] | undefined;

/**
 * Of the service process: memory, processor, event loop, garbage. There is one process: each of its services shows the
 * same.
 */
function processMetrics(): readonly Metric[] {
  if (ofProcess === undefined) {
    const register = new Registry();
    collectDefaultMetrics({ register, eventLoopMonitoringPrecision: LAG_INTERVAL_MS });
    ofProcess = register.getMetricsAsArray() as unknown as readonly Metric[]; // a registry gives what it was given
  }
  return ofProcess;
}

function counter<Label extends string>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [] });
}

function histogram<Label extends string>(
  name: string,
  help: string,
  buckets: number[],
  labelNames: Label[] = [],
): Histogram<Label> {
  return new Histogram({ name, help, buckets, labelNames, registers: [] });
}

function gauge(name: string, help: string, read: () => number): Gauge {
  const collect: CollectFunction<Gauge> = function () {
    this.set(read());
  };
  return new Gauge({ name, help, registers: [], collect });
}

/** A counter that somebody else keeps. */
function readCounter(name: string, help: string, read: () => number): Counter {
  const collect: CollectFunction<Counter> = function () {
    this.reset();
    this.inc(read());
  };
  return new Counter({ name, help, registers: [], collect });
}

function info(name: string, help: string, labels: Readonly<Record<string, string>>): Gauge {
  const metric = new Gauge({ name, help, labelNames: Object.keys(labels), registers: [] });
  metric.set(labels, 1);
  return metric;
}
