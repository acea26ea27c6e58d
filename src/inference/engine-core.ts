import type { RenderedRequest } from "../decisions/request.ts";
import type { Tuning } from "../decisions/tuning.ts";
import type { Backend } from "./backend.ts";
import type { Clock } from "./clock.ts";
import type {
  EngineHealth,
  EngineMeasurements,
  EngineStatus,
  ModelFacts,
  ScoredRequest,
  ScoreOptions,
  ScoringJob,
  ServedEngine,
} from "./engine.ts";
import type { RequestPlan } from "./nodes.ts";
import { planRequest, planRequests, tokensOf, withoutSharing } from "./plan.ts";
import { type BatchFacts, type EngineSettings, Scheduler } from "./queue/scheduler.ts";
import type { EarlyOutcome, Ticket } from "./queue/ticket.ts";
import { type ReadRequest, readRequest } from "./read-request.ts";
import type { Tokenizer } from "./tokens/tokenizer.ts";

export interface EngineParts {
  readonly model: ModelFacts;
  readonly tuning?: Tuning | undefined;
  readonly settings: EngineSettings;
  readonly backend: Backend;
  readonly tokenizer: Tokenizer;
  /** Whether the model computes once what pairs share. Default: true. */
  readonly sharesTokens?: boolean;
  readonly clock: Clock;
  /** What /health reports about the backend before it has started. */
  readonly info: { readonly backend: string; readonly device: string; readonly precision: string };
  /** Called once the backend has started, when its device and precision are known. */
  readonly onStarted?: (health: EngineHealth) => void;
  /** For the operator's log. Never throws. */
  readonly log?: (event: string, details: Record<string, unknown>) => void;
}

/** Tokenizes the texts of a request, once it has a place in the queue. */
type Plan = (signal: AbortSignal) => Promise<RequestPlan>;

/** One model with one queue, over any backend. Each request is admitted, tokenized, queued and scored. */
export class EngineCore implements ServedEngine {
  readonly model: ModelFacts;
  readonly tuning: Tuning | undefined;
  readonly #parts: EngineParts;
  readonly #scheduler: Scheduler;
  readonly #startedAt: number;
  #phase: "starting" | "open" | "failed" | "draining" = "starting";

  constructor(parts: EngineParts) {
    this.model = parts.model;
    this.tuning = parts.tuning;
    this.#parts = parts;
    this.#scheduler = new Scheduler(parts.backend, parts.clock, parts.settings);
    this.#startedAt = parts.clock.now();
  }

  /** Starts the backend. Requests are rejected until it has started. @throws what the backend throws */
  async start(): Promise<void> {
    try {
      await this.#parts.backend.start();
      this.#scheduler.open();
      this.#enter("open");
      this.#parts.onStarted?.(this.health());
    } catch (cause) {
      this.#scheduler.fail(cause);
      this.#enter("failed");
      throw cause;
    }
  }

  /** Drops its references to the texts once they are tokenized, because many requests may wait. */
  score(request: RenderedRequest, signal: AbortSignal, options?: ScoreOptions): Promise<ScoredRequest> {
    const { tokenizer } = this.#parts;
    const plan: Plan = (signal) => planRequest(request, this.model.limits, tokenizer, signal);
    return this.#score(plan, signal, options);
  }

  scoreAll(job: ScoringJob, signal: AbortSignal, options?: ScoreOptions): Promise<ScoredRequest> {
    const { tokenizer } = this.#parts;
    const plan: Plan = async (signal) =>
      planRequests(await job.prepare(tokenizer, signal), this.model.limits, tokenizer, signal);
    return this.#score(plan, signal, options);
  }

  read(request: RenderedRequest, signal: AbortSignal): Promise<ReadRequest> {
    return readRequest(request, this.model.limits, this.#parts.tokenizer, signal);
  }

  #score(
    plan: Plan,
    signal: AbortSignal,
    { arrivedAt = this.#parts.clock.now(), onTokens }: ScoreOptions = {},
  ): Promise<ScoredRequest> {
    try {
      const deadlineAt = arrivedAt + this.#parts.settings.deadlineMs;
      const ticket = this.#scheduler.admit({ signal, deadlineAt });
      return this.#answer(ticket, this.#tokenize(plan, ticket, onTokens));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** @returns its duration in milliseconds */
  async #tokenize(plan: Plan, ticket: Ticket, onTokens: ScoreOptions["onTokens"]): Promise<number> {
    const { clock, sharesTokens = true } = this.#parts;
    const startedAt = clock.now();
    try {
      const cut = await plan(ticket.signal);
      const planned = sharesTokens ? cut : withoutSharing(cut);
      const tokenize = clock.now() - startedAt;
      if (!ticket.signal.aborted) onTokens?.(tokensOf(planned));
      this.#scheduler.submit(ticket, planned);
      return tokenize;
    } catch (error) {
      this.#scheduler.refuse(ticket, error);
      return 0; // unused: the place rejects its answer
    }
  }

  async #answer(ticket: Ticket, tokenizing: Promise<number>): Promise<ScoredRequest> {
    const scored = await ticket.answer;
    return { ...scored, timing: { ...scored.timing, tokenize: await tokenizing } };
  }

  isFull(): boolean {
    return this.#scheduler.isFull();
  }

  countEarly(outcome: EarlyOutcome): void {
    this.#scheduler.countEarly(outcome);
  }

  health(): EngineHealth {
    const { backend, clock, info, settings } = this.#parts;
    const { device, precision } = backend.facts ?? info;
    return {
      status: this.#status(),
      backend: info.backend,
      device,
      precision,
      uptimeSeconds: (clock.now() - this.#startedAt) / 1000,
      isStuck: this.#scheduler.isStuck(),
      memoryBytes: backend.counters?.().residentBytes,
      settings,
      counters: this.#scheduler.counters(),
    };
  }

  measurements(): EngineMeasurements {
    const { backend, tokenizer } = this.#parts;
    return {
      backend: backend.counters?.() ?? { restarts: 0, stateHits: 0, stateMisses: 0, residentBytes: 0 },
      texts: tokenizer.textCache?.() ?? { hits: 0, misses: 0 },
    };
  }

  onBatch(listener: (batch: BatchFacts) => void): void {
    this.#scheduler.onBatch((batch) => {
      try {
        listener(batch);
      } catch (error) {
        this.#parts.log?.("an observer has failed", { err: error, observer: "batches" });
      }
    });
  }

  /** Accepts no more requests. Resolves when every accepted request has been answered. */
  drain(): Promise<void> {
    this.#phase = "draining";
    return this.#scheduler.drain();
  }

  /** Ends at once: rejects the remaining requests with DRAINING and closes the backend. */
  async close(): Promise<void> {
    this.#phase = "draining";
    this.#scheduler.close();
    await this.#parts.backend.close();
  }

  /** Leaves the phase "starting". Has no effect after draining has begun. */
  #enter(phase: "open" | "failed"): void {
    if (this.#phase === "starting") this.#phase = phase;
  }

  #status(): EngineStatus {
    if (this.#phase !== "open") return this.#phase;
    return this.#parts.backend.isReady ? "ready" : "starting"; // not ready: it is loading the model again
  }
}
