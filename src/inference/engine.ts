import type { RenderedRequest, TextReader } from "../decisions/request.ts";
import type { Tuning } from "../decisions/tuning.ts";
import type { BackendCounters } from "./backend.ts";
import type { BatchFacts, EngineSettings } from "./queue/scheduler.ts";
import type { EarlyOutcome, QueueCounters, QueuedScores } from "./queue/ticket.ts";
import type { ReadRequest } from "./read-request.ts";
import type { TextCacheCounters, TokenLimits } from "./tokens/tokenizer.ts";

/** Facts about the served model package. */
export interface ModelFacts {
  /** `<namespace>/<name>@<40 hex digits>` */
  readonly id: string;
  readonly revision: string;
  /** Other names that requests may use: the id without revision, the bare name, the short alias, and the operator's alias. */
  readonly aliases: readonly string[];
  readonly version: string;
  readonly releaseDate: string;
  readonly description: string;
  /** Divisor of the scores in the softmax. */
  readonly temperature: number;
  /** Whether the model sees `label: description` for the candidates of a choice. */
  readonly showsLabels: boolean;
  readonly limits: TokenLimits;
  /** Whether the model was trained to compare a query and a document. */
  readonly isReranker?: boolean;
}

/** A scored request, with the time for tokenizing, which happens outside the queue. */
export interface ScoredRequest extends Omit<QueuedScores, "timing"> {
  readonly timing: QueuedScores["timing"] & { readonly tokenize: number };
}

/** A request on several states. Its texts are prepared once it has a place in the queue. */
export interface ScoringJob {
  /** One request for each state. @param signal aborted when the texts are no longer needed @throws ServiceError INVALID_REQUEST */
  prepare(reader: TextReader, signal: AbortSignal): Promise<readonly RenderedRequest[]>;
}

export interface ScoreOptions {
  /** Start of the deadline, on the engine's clock. Default: now */
  readonly arrivedAt?: number | undefined;
  /**
   * Called before the request is queued, with the tokens of all its pairs, counted as in `inputTokens`. If it throws, the
   * request is refused with that error.
   */
  readonly onTokens?: ((tokens: number) => void) | undefined;
}

export type EngineStatus = "ready" | "starting" | "draining" | "failed";

export interface EngineHealth {
  readonly status: EngineStatus;
  readonly backend: string;
  readonly device: string;
  readonly precision: string;
  readonly uptimeSeconds: number;
  /** Whether work has made no progress for so long that only a restart of the service helps. False while the model is reloaded. */
  readonly isStuck: boolean;
  /** Memory of the process that holds the model; 0 while there is none. Undefined if another server computes. */
  readonly memoryBytes?: number | undefined;
  readonly settings: EngineSettings;
  readonly counters: QueueCounters;
}

/** Measurements that are not part of `health()`. */
export interface EngineMeasurements {
  readonly backend: BackendCounters;
  readonly texts: TextCacheCounters;
}

/** The engine as handlers see it. */
export interface Engine {
  readonly model: ModelFacts;
  /** Corrections that handlers apply to scores. The engine itself returns and caches raw scores only. */
  readonly tuning?: Tuning | undefined;
  /**
   * Takes a place in the queue, tokenizes, checks the token limits, and waits for the scores.
   *
   * @throws ServiceError STARTING | DRAINING | QUEUE_FULL | OVERLOADED | INVALID_REQUEST (too_many_tokens) |
   *         DEADLINE_EXCEEDED | CANCELLED (`signal` aborted) | BACKEND_FAILED, or what `onTokens` throws
   */
  score(request: RenderedRequest, signal: AbortSignal, options?: ScoreOptions): Promise<ScoredRequest>;
  /**
   * The same for a request on any number of states. It has one place in the queue and one deadline, and succeeds or fails
   * as a whole. Its scores are those of the first state's questions, then of the second's, and so on.
   */
  scoreAll(job: ScoringJob, signal: AbortSignal, options?: ScoreOptions): Promise<ScoredRequest>;
  /**
   * How the model's tokenizer reads a request. Takes no place in the queue and does not run the model.
   *
   * @throws ServiceError INVALID_REQUEST (too_many_tokens)
   */
  read(request: RenderedRequest, signal: AbortSignal): Promise<ReadRequest>;
  health(): EngineHealth;
}

/** An engine behind a web service, where requests may end before or while their bodies are read. */
export interface ServedEngine extends Engine {
  /**
   * Whether the queue has no place now. Cheap, and changes no counter: call `countEarly` for that. Other reasons to
   * reject a request (the service is starting or shutting down) last longer and are reported after its body is checked.
   */
  isFull(): boolean;
  countEarly(outcome: EarlyOutcome): void;
  measurements(): EngineMeasurements;
  /** Sets the listener that is called after each computed batch. There is one listener. */
  onBatch(listener: (batch: BatchFacts) => void): void;
}
