import type { QuestionType } from "../decisions/questions.ts";
import type { RenderedQuestion, RenderedRequest, RenderedText } from "../decisions/rendered.ts";
import type { TextReader } from "../decisions/text-tokens.ts";
import type { ServiceError } from "../errors.ts";
import type { Node } from "./nodes.ts";

/** The data types of the inference core, and its ports: what it needs from outside. */

/** A tokenized request within its token limits: [questions][candidates]. Its pairs may have different states. */
export type RequestPlan = readonly (readonly Node[])[];

/** Scores of a batch. */
export interface BatchScores {
  /** [pairs] raw float32 scores, in the order of the leaves. */
  readonly scores: Float32Array;
  /** [pairs, size] float32 inputs of the model's head. Only if the backend is configured to return them. */
  readonly vectors?: Float32Array;
  /** Number of model runs. */
  readonly forwards: number;
  /** Tokens of states whose keys and values were cached, so that they were not computed. Default: 0. */
  readonly cachedTokens?: number;
}

/** A backend's counters since its start, and its current memory. */
export interface BackendCounters {
  /** Number of processes started to replace one that had ended. */
  readonly restarts: number;
  /** Lookups in the state cache: hits, and misses that were computed and cached. */
  readonly stateHits: number;
  readonly stateMisses: number;
  /** Memory of the inference process, in bytes; 0 while there is none. */
  readonly residentBytes: number;
}

/** Device and number format of a backend. */
export interface BackendFacts {
  readonly device: string;
  readonly precision: string;
}

/** Turns leaves into scores. Knows nothing of HTTP, queues or texts. */
export interface Backend {
  /** Loads the model. @throws ServiceError INVALID_MODEL or BACKEND_FAILED */
  start(): Promise<void>;
  /**
   * Scores every pair of a batch. A pair's score does not depend on the rest of the batch. A batch given while another one is
   * computed begins after it, and may end before it.
   *
   * @param leaves each once; nodes with equal keys are one object
   * @throws ServiceError BACKEND_FAILED, for this batch only
   */
  score(leaves: readonly Node[]): Promise<BatchScores>;
  /** False while the model is (re)loading. */
  readonly isReady: boolean;
  /** Whether the backend is expected to become ready soon. False after an attempt to reload the model has failed, until one succeeds. */
  readonly isExpected: boolean;
  /** Sets the listener that is called each time the model has been (re)loaded. There is one listener, the scheduler. */
  onReady(listener: () => void): void;
  /** Known once the backend has started. Undefined if the options determine them. */
  readonly facts?: BackendFacts | undefined;
  /** Undefined for backends that count nothing. */
  counters?(): BackendCounters;
  close(): Promise<void>;
}

/** A token count above a limit. */
export interface TooManyTokens {
  /** Special tokens included. */
  readonly count: number;
  /** False if `count` is a lower bound: a part of the text was enough to refuse it. */
  readonly isExact: boolean;
}

/** A text above a token limit, alone or together with the texts before it. */
export interface TooLongText {
  readonly loc: RenderedText["loc"];
  readonly what: "state" | "state and question" | "candidate" | "pair";
  /** Including special tokens, as does `came`. */
  readonly maxTokens: number;
  readonly came: TooManyTokens;
}

export interface EncodedRequest {
  /** Meaningless if `tooLong` is not empty. */
  readonly plan: RequestPlan;
  /**
   * In the order of the request. A state that is too long by itself is listed once, at the state. Otherwise state and question
   * together are listed at the question. May stop after MAX_ISSUES entries.
   */
  readonly tooLong: readonly TooLongText[];
}

/**
 * Turns texts into tokens. Each architecture in `models/architectures/` opens one for its
 * tokenizer.json. A new kind of tokenizer.json for models that tokenize parts separately needs a `PartEncoder` and a
 * `PartReader` (`tokens/part-plan.ts`), not a new `Tokenizer`.
 *
 * What the rest of the service relies on:
 *
 * - A row (a field or item of a state) has at least one token (`decisions/texts/render.ts`).
 * - A UTF-16 code unit becomes at most `MOST_TOKENS_PER_UNIT` tokens (`decisions/rerank/parts.ts`).
 * - A text that is too long is refused after its first pieces. The time does not depend on the length of the rest.
 * - An unsupported file is refused with a message. Check a file before you give it to the library `tokenizers`, which ends the
 *   process for some damaged files (a broken `precompiled_charsmap`).
 */
export interface Tokenizer extends TextReader {
  /**
   * Tokens of each pair of a request. How a pair is split into parts depends only on its own texts.
   *
   * @param signal rejects with its reason once aborted
   */
  encodeRequest(request: RenderedRequest, limits: TokenLimits, signal: AbortSignal): Promise<EncodedRequest>;
  /** Undefined for tokenizers without a cache of texts. */
  textCache?(): TextCacheCounters;
  /** Whether the tokens of a text are cached now. Undefined for tokenizers without a cache. */
  isCached?(role: TextRole, text: string): boolean | undefined;
  /** Tokens in a readable form. @param ids token ids of the text, from a plan */
  spell(role: TextRole, text: string, ids: Int32Array): Promise<readonly SpelledToken[]>;
}

/** A text's place in a pair. */
export type TextRole = "state" | "question" | "candidate";

/** Monotonic time source, injected so that tests never sleep. Every `...At` in the core is a time of this clock. */
export interface Clock {
  /** Milliseconds since an arbitrary moment; not a calendar time. */
  now(): number;
  /** Calls back once after `ms` milliseconds. @returns a function that cancels the call */
  after(ms: number, callback: () => void): () => void;
}

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

export interface TokenLimits {
  readonly maxStateQuestionTokens: number;
  readonly maxCandidateTokens: number;
}

/** A scored request. Durations are in milliseconds. */
export interface ScoredRequest {
  /** One [candidates] array of raw scores for each question, in request order. */
  readonly scores: readonly Float32Array[];
  /** One [candidates, size] array for each question, if the backend returns vectors. */
  readonly vectors?: readonly Float32Array[] | undefined;
  readonly inputTokens: number;
  readonly cachedPairs: number;
  /** Questions with candidates that are the same tokens to the model. Default: 0. */
  readonly indistinct?: number;
  readonly timing: { readonly queue: number; readonly tokenize: number; readonly inference: number };
}

/** A correction of a question's scores. */
export interface TuningFacts {
  /** First 16 hex digits of the correction's digest; also in a header of responses. */
  readonly id: string;
  /** The question's name when it was tuned. */
  readonly name: string;
  readonly form: QuestionType;
  /** Digest of the question. */
  readonly question: string;
  readonly kind: "scale" | "head";
}

/** Corrections of the scores of certain questions. They apply to every request with such a question, whatever its name. */
export interface Tuning {
  readonly facts: readonly TuningFacts[];
  /** The corrections for a request; undefined if none applies. The result holds no text of the request. */
  match(questions: readonly RenderedQuestion[]): TunedRequest | undefined;
}

export interface TunedRequest {
  /** Ids of the corrections, in the order of the questions. */
  readonly ids: readonly string[];
  /**
   * @param scores  one [candidates] array of raw scores for each question
   * @param vectors one [candidates, size] array for each question, if the engine returns vectors
   * @returns       the scores; those of questions with a correction are corrected
   */
  correct(
    scores: readonly Float32Array[],
    vectors: readonly Float32Array[] | undefined,
  ): readonly Float32Array[];
}

/** A request on several states. Its texts are prepared once it has a place in the queue. */
export interface ScoringJob {
  /** Approximate length of all its texts in UTF-16 code units, used for admission. */
  readonly textLength: number;
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

/** A token in a readable form. */
export interface SpelledToken {
  readonly id: number;
  /** The token as the vocabulary spells it. */
  readonly text: string;
  /** The part of the text that it stands for; undefined for special tokens, and for models that read a pair as one text. */
  readonly source?: string | undefined;
  readonly isUnknown: boolean;
}

/** The tokens of a text. */
export interface ReadText {
  readonly tokens: readonly SpelledToken[];
  /** Whether its tokens were cached by an earlier request; undefined without a cache. */
  readonly wasCached?: boolean | undefined;
}

/** The tokens of a request, in its order. If pairs differ in the tokens of their state or question, those of the first pair. */
export interface ReadRequest {
  readonly state: ReadText;
  readonly questions: readonly {
    readonly question: ReadText;
    readonly stateQuestionTokens: number;
    readonly candidates: readonly (ReadText & { readonly pairTokens: number })[];
  }[];
}

export type EngineStatus = "ready" | "starting" | "draining" | "failed";

/** Requests that wait and run now, and counters since the start. A batch counts in `batches` when it is sent. */
export interface QueueCounters {
  readonly queued: number;
  readonly running: number;
  /** Estimated time for all waiting and running requests; 0 before there are measurements. */
  readonly estimatedWaitMs: number;
  readonly completed: number;
  readonly rejected: number;
  readonly timedOut: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly batches: number;
  readonly forwards: number;
  readonly cacheEntries: number;
  readonly cacheHits: number;
}

export interface EngineSettings {
  readonly queueCapacity: number;
  readonly maxBatchRequests: number;
  readonly maxBatchTokens: number;
  readonly batchWaitMs: number;
  readonly cacheSize: number;
  readonly strict: boolean;
  readonly deadlineMs: number;
}

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

/** A batch that the backend has computed. */
export interface BatchFacts {
  readonly requests: number;
  readonly pairs: number;
  /** Tokens without repetition: shared tokens count once. Tokens of cached states are included. */
  readonly tokens: number;
  /** Time from sending the batch to receiving its scores. */
  readonly ms: number;
}

/** Lookups of texts in the cache of tokenized texts. */
export interface TextCacheCounters {
  readonly hits: number;
  readonly misses: number;
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

/** Why a request ended before it reached the queue: it was refused, or its deadline passed. */
export type TurnedAway = "REFUSED" | "DEADLINE_EXCEEDED";

/** An engine behind a web service, where requests may end before or while their bodies are read. */
export interface ServedEngine extends Engine {
  /**
   * QUEUE_FULL if the queue is full now. Cheap, and changes no counter: call `countTurnedAway` for that. Other reasons to
   * reject a request (the service is starting or shutting down) last longer and are reported after its body is checked.
   */
  fullQueue(): ServiceError | undefined;
  countTurnedAway(reason: TurnedAway): void;
  measurements(): EngineMeasurements;
  /** Sets the listener that is called after each computed batch. There is one listener. */
  onBatch(listener: (batch: BatchFacts) => void): void;
}
