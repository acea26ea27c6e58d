/**
 * What the inference core needs from outside, and what it works on.
 *
 *     state ──┬── question 1 ──┬── candidate 1
 *             │                ├── candidate 2      a token sees its own node's tokens
 *             │                └── ...              and those of the nodes above it
 *             └── question 2 ──── ...
 */

/** One request's tokens. Every array holds token ids with the model's special tokens. */
export interface TokenTree {
  readonly state: Int32Array; // [state tokens]
  readonly questions: readonly QuestionNode[];
}

export interface QuestionNode {
  readonly tokens: Int32Array; // [question tokens]
  readonly candidates: readonly Int32Array[]; // one [candidate tokens] each
}

/** Scores of a forest. */
export interface ForestScores {
  /** [pairs] raw float32 scores: tree by tree, question by question, candidate by candidate. */
  readonly scores: Float32Array;
  /** Runs of the model that it took. */
  readonly forwards: number;
}

/** Turns token trees into scores. Knows nothing of HTTP, queues or texts. */
export interface Backend {
  /** Loads the model. @throws ServiceError INVALID_MODEL or BACKEND_FAILED */
  start(): Promise<void>;
  /**
   * Scores every pair of the forest; a pair's score does not depend on what else is in it.
   * @throws ServiceError BACKEND_FAILED, for this forest only
   */
  score(forest: readonly TokenTree[]): Promise<ForestScores>;
  /** False while the model is (re)loading. */
  readonly isReady: boolean;
  close(): Promise<void>;
}

/** Time source, injected so that tests never sleep. */
export interface Clock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Calls back once after `ms`; returns what cancels it. */
  after(ms: number, callback: () => void): () => void;
}
