import type { InferenceFacts } from "../contract/call.ts";

/** A request that has its answer. Nothing of its content. */
export interface RequestRecord {
  /** Undefined for what never became a request: broken HTTP, headers that are late. */
  readonly method: string | undefined;
  /** Undefined for the files of the documentation, unknown paths and what never became a request. */
  readonly operation: string | undefined;
  readonly status: number;
  /** From its headers to its answer; 0 for what never became a request. */
  readonly ms: number;
  readonly requestId: string;
  /** Of the caller's trace, or of our own. */
  readonly traceId?: string | undefined;
  /** The name of the key that it came with. */
  readonly keyName?: string | undefined;
  /** With an answer of the model. */
  readonly inference?: InferenceFacts | undefined;
}

/** Told of each request once. */
export type RequestListener = (record: RequestRecord) => void;
