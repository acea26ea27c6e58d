import type { QuestionType } from "../decisions/questions.ts";
import type { RenderedQuestion, RenderedRequest, RenderedText } from "../decisions/rendered.ts";
import type { TextReader } from "../decisions/text-tokens.ts";
import type { ServiceError } from "../errors.ts";

/**
 * What the inference core needs from outside, and what it works on.
 *
 *     state ──┬── question 1 ──┬── candidate 1
 *             │                ├── candidate 2      a token sees its own node's tokens
 *             │                └── ...              and those of the nodes above it
 *             └── question 2 ──── ...
 */

/** Pairs that share a state. Every array holds token ids with the model's special tokens. */
export interface TokenTree {
  readonly state: Int32Array; // [state tokens]
  /** Digest of the state's tokens, as the queue has taken it. A backend takes one itself where nobody has. */
  readonly stateKey?: string;
  readonly questions: readonly QuestionNode[];
}

export interface QuestionNode {
  readonly tokens: Int32Array; // [question tokens]
  readonly candidates: readonly Int32Array[]; // one [candidate tokens] each
}

/** The tokens of one pair, cut where pairs may share them. What pairs of a request share is one array, not equal ones. */
export interface TokenPath {
  readonly state: Int32Array; // [state tokens]
  readonly question: Int32Array; // [question tokens]
  readonly candidate: Int32Array; // [candidate tokens], at least one
}

/** A request after tokenizing, its limits checked: [questions][candidates]. Its pairs may have several states. */
export type RequestPlan = readonly (readonly TokenPath[])[];

/** Scores of a forest. */
export interface ForestScores {
  /** [pairs] raw float32 scores: tree by tree, question by question, candidate by candidate. */
  readonly scores: Float32Array;
  /** [pairs, size] what the model's head read, float32; only of a backend that is set up to give them. */
  readonly vectors?: Float32Array;
  /** Runs of the model that it took. */
  readonly forwards: number;
  /** Of the forest's tokens those of states that were kept from an earlier one, so that they were not computed; none unless given. */
  readonly knownTokens?: number;
}

/** What a backend has counted since its start, and what it takes now. */
export interface BackendCounters {
  /** Processes that were started in place of one that had ended. */
  readonly restarts: number;
  /** States that the cache knew, and long states that were computed. */
  readonly stateHits: number;
  readonly stateMisses: number;
  /** Memory of the inference process, in bytes; 0 while there is none. */
  readonly residentBytes: number;
}

/** What a backend computes on and with. */
export interface BackendFacts {
  readonly device: string;
  readonly precision: string;
}

/** Turns token trees into scores. Knows nothing of HTTP, queues or texts. */
export interface Backend {
  /** Loads the model. @throws ServiceError INVALID_MODEL or BACKEND_FAILED */
  start(): Promise<void>;
  /**
   * Scores every pair of the forest; a pair's score does not depend on what else is in it. A second forest may be given while
   * the first one is computed: it follows.
   *
   * @throws ServiceError BACKEND_FAILED, for this forest only
   */
  score(forest: readonly TokenTree[]): Promise<ForestScores>;
  /** Tokens. A shorter state is encoded anew for each forest, a longer one is kept for a while. */
  readonly shortestKeptState: number;
  /** False while the model is (re)loading. */
  readonly isReady: boolean;
  /** Whether waiting for that makes sense: no more once a lost model could not be loaded again, until it could. */
  readonly isExpected: boolean;
  /** Names who is told, each time, that the model is there (again). There is one such listener, the scheduler. */
  onReady(listener: () => void): void;
  /** Once it has started; left out where the options say all of it. */
  readonly facts?: BackendFacts | undefined;
  /** Left out where there is nothing to count. */
  counters?(): BackendCounters;
  close(): Promise<void>;
}

/** A count that passes a limit. */
export interface TooManyTokens {
  /** Special tokens included. */
  readonly count: number;
  /** False: `count` is a lower bound, because less than the whole was enough to refuse a text. */
  readonly isExact: boolean;
}

/** A text that passes a limit, alone or with those before it. */
export interface TooLongText {
  readonly loc: RenderedText["loc"];
  readonly what: "state" | "state and question" | "candidate" | "pair";
  /** Special tokens included, as in `came`. */
  readonly maxTokens: number;
  readonly came: TooManyTokens;
}

export interface EncodedRequest {
  /** Without meaning where a text is too long. */
  readonly plan: RequestPlan;
  /**
   * In the order of the request. A state that is too long alone is named once, at the state; else state and question together
   * at the question. At least MAX_ISSUES of them, where there are so many.
   */
  readonly tooLong: readonly TooLongText[];
}

/**
 * Turns texts into tokens. `models/graph/model-tokenizer.ts` chooses one by the model's architecture and its tokenizer.json. A new kind of
 * file for models that read parts needs a `PartEncoder` and a `PartReader` (`tokens/part-plan.ts`), not a new `Tokenizer`.
 *
 * What the rest of the service relies on:
 *
 * - A row (a field or item of a state) has at least one token (`decisions/texts/render.ts`).
 * - A UTF-16 code unit becomes at most `MOST_TOKENS_PER_UNIT` tokens (`decisions/rerank/parts.ts`).
 * - A text that is too long is refused from its first pieces, in a time that does not grow with what follows.
 * - A file that it cannot read is refused with a message. The library `tokenizers` ends the process for some damaged files (a broken
 *   `precompiled_charsmap`), so look through a new kind of file before the library does.
 */
export interface Tokenizer extends TextReader {
  /**
   * Tokens of each pair of a request. How a pair is cut depends on its own texts only.
   *
   * @param signal rejects with its reason once aborted
   */
  encodeRequest(request: RenderedRequest, limits: TokenLimits, signal: AbortSignal): Promise<EncodedRequest>;
  /** Left out where no texts are kept. */
  textCache?(): TextCacheCounters;
  /** Whether the tokens of a text are kept now; left out where none are. */
  isKept?(role: TextRole, text: string): boolean;
  /** Tokens for people. @param ids those of the text in a plan */
  spell(role: TextRole, text: string, ids: Int32Array): Promise<readonly SpelledToken[]>;
}

/** A text's place in a pair. */
export type TextRole = "state" | "question" | "candidate";

/** Time source, injected so that tests never sleep. It tells durations only: every `...At` in the core is one of its times. */
export interface Clock {
  /** Milliseconds since some moment, monotonic: no time of the calendar. */
  now(): number;
  /** Calls back once after `ms`; returns what cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** What the served model package says of itself. */
export interface ModelFacts {
  /** `<namespace>/<name>@<40 hex digits>` */
  readonly id: string;
  readonly revision: string;
  /** Every other name that requests may use: id without revision, bare name, short alias, the operator's own. */
  readonly aliases: readonly string[];
  readonly version: string;
  readonly releaseDate: string;
  readonly description: string;
  /** Divisor of the scores in the softmax. */
  readonly temperature: number;
  /** Whether a choice shows `label: description` to the model. */
  readonly showsLabels: boolean;
  readonly limits: TokenLimits;
}

export interface TokenLimits {
  readonly maxStateQuestionTokens: number;
  readonly maxCandidateTokens: number;
}

/** A scored request. Durations in milliseconds. */
export interface ScoredRequest {
  /** One [candidates] array of raw scores for each question, in request order. */
  readonly scores: readonly Float32Array[];
  /** One [candidates, size] array for each question, where the backend gives them. */
  readonly vectors?: readonly Float32Array[] | undefined;
  readonly inputTokens: number;
  readonly cachedPairs: number;
  readonly timing: { readonly queue: number; readonly tokenize: number; readonly inference: number };
}

/** A question whose scores are corrected. */
export interface TuningFacts {
  /** 16 hex digits of a digest of the correction; the same in an answer's headers. */
  readonly id: string;
  /** Its name when it was tuned. */
  readonly name: string;
  readonly form: QuestionType;
  /** Digest of the question. */
  readonly question: string;
  readonly kind: "scale" | "head";
}

/** Corrections of the scores of certain questions, whoever asks them and by whatever name. */
export interface Tuning {
  readonly facts: readonly TuningFacts[];
  /** Those for a request; undefined where it has none of these questions. Holds no text of the request. */
  match(questions: readonly RenderedQuestion[]): TunedRequest | undefined;
}

export interface TunedRequest {
  /** Of the corrections, in the order of the questions. */
  readonly ids: readonly string[];
  /**
   * @param scores  one [candidates] array of raw scores for each question
   * @param vectors one [candidates, size] array each, where the engine gives them
   * @returns       the scores, corrected where a correction belongs to the question
   */
  correct(
    scores: readonly Float32Array[],
    vectors: readonly Float32Array[] | undefined,
  ): readonly Float32Array[];
}

/** Work on several states, whose texts are prepared once it has its place. */
export interface ScoringJob {
  /** Of all its texts, in UTF-16 code units, about: admission goes by it. */
  readonly textLength: number;
  /** One request for each state. @throws ServiceError INVALID_REQUEST @param signal aborted when the texts are no longer needed */
  prepare(reader: TextReader, signal: AbortSignal): Promise<readonly RenderedRequest[]>;
}

/** A token, for people. */
export interface SpelledToken {
  readonly id: number;
  /** As the vocabulary writes it. */
  readonly text: string;
  /** What it stands for in the text; undefined for special tokens, and where a pair is one text. */
  readonly source?: string | undefined;
  readonly isUnknown: boolean;
}

/** How a text is read. */
export interface ReadText {
  readonly tokens: readonly SpelledToken[];
  /** Whether its tokens were kept from an earlier request; undefined where none are kept. */
  readonly wasKept?: boolean | undefined;
}

/** How a request is read, in its order. Where pairs differ in the tokens of their state or question: the first one's. */
export interface ReadRequest {
  readonly state: ReadText;
  readonly questions: readonly {
    readonly question: ReadText;
    readonly stateQuestionTokens: number;
    readonly candidates: readonly (ReadText & { readonly pairTokens: number })[];
  }[];
}

export type EngineStatus = "ready" | "starting" | "draining" | "failed";

/** What waits and runs now, and counters since start. A batch counts in `batches` when it is sent. */
export interface QueueCounters {
  readonly queued: number;
  readonly running: number;
  /** How long all that waits and runs will take; 0 before the backend has been measured. */
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
  /** Whether work has stood still for so long that only a new process helps. A model that is being loaded again is waited for. */
  readonly isStuck: boolean;
  readonly settings: EngineSettings;
  readonly counters: QueueCounters;
}

/** A batch that the backend has computed. */
export interface BatchFacts {
  readonly requests: number;
  readonly pairs: number;
  /** New tokens: what pairs share counts once, and what the cache of states knows does too. */
  readonly tokens: number;
  /** From sending it to its scores. */
  readonly ms: number;
}

/** Lookups of texts in the memory of tokenized texts. */
export interface TextCacheCounters {
  readonly hits: number;
  readonly misses: number;
}

/** What is measured beside `health()`. */
export interface EngineMeasurements {
  readonly backend: BackendCounters;
  readonly texts: TextCacheCounters;
}

/** What the handlers dispatch to. */
export interface Engine {
  readonly model: ModelFacts;
  /** What answers apply to the engine's scores. The scores themselves, and what is cached of them, are always raw. */
  readonly tuning?: Tuning | undefined;
  /**
   * Takes a place in the queue, tokenizes, checks the token limits, and waits for the scores.
   *
   * @param arrivedAt on the engine's clock: from then on the deadline counts; now, unless given
   * @throws ServiceError STARTING | DRAINING | QUEUE_FULL | OVERLOADED | INVALID_REQUEST (too_many_tokens) |
   *         DEADLINE_EXCEEDED | CANCELLED (`signal` aborted) | BACKEND_FAILED
   */
  score(request: RenderedRequest, signal: AbortSignal, arrivedAt?: number): Promise<ScoredRequest>;
  /**
   * The same for work on any number of states: it has one place in the queue, one deadline, and ends as a whole. Its scores are
   * those of the first state's questions, then of the second's, and so on.
   */
  scoreAll(job: ScoringJob, signal: AbortSignal, arrivedAt?: number): Promise<ScoredRequest>;
  /**
   * How the model's tokenizer reads a request. Takes no place in the queue, and needs no model.
   *
   * @throws ServiceError INVALID_REQUEST (too_many_tokens)
   */
  read(request: RenderedRequest, signal: AbortSignal): Promise<ReadRequest>;
  health(): EngineHealth;
}

/** Why a request ended before it came to the queue: it was refused, or it was too late. */
export type TurnedAway = "REFUSED" | "DEADLINE_EXCEEDED";

/** One behind a web service, whose requests may end before or while their bodies are read. */
export interface ServedEngine extends Engine {
  /**
   * QUEUE_FULL if the queue is full now. Cheap, and counts nothing: `countTurnedAway` does. What else keeps a request out (the service
   * starts or shuts down) lasts, and is said after the checks of its body.
   *
   * @param ahead requests that have no place yet, but will ask for one before this one does
   */
  fullQueue(ahead?: number): ServiceError | undefined;
  countTurnedAway(reason: TurnedAway): void;
  measurements(): EngineMeasurements;
  /** Names who is told of each batch that has been computed. There is one such listener. */
  onBatch(listener: (batch: BatchFacts) => void): void;
}
