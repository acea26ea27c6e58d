import type { Node } from "./nodes.ts";

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
