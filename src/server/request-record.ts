import type { InferenceFacts } from "../contract/call.ts";

/** Facts about an answered request, without its content. */
export interface RequestRecord {
  /** Undefined if there was no valid request: broken HTTP, late headers. */
  readonly method: string | undefined;
  /** Undefined for files of the documentation, unknown paths, and if there was no valid request. */
  readonly operation: string | undefined;
  readonly status: number;
  /** Time from its headers to its answer; 0 if there was no valid request. */
  readonly ms: number;
  readonly requestId: string;
  /** Id of the caller's trace, or of a new one. */
  readonly traceId?: string | undefined;
  /** Name of the key that it was sent with. */
  readonly keyName?: string | undefined;
  /** Of each answer of the model; none for requests that it did not answer. */
  readonly inferences?: readonly InferenceFacts[];
}

/** Called once for each request. */
export type RequestListener = (record: RequestRecord) => void;
