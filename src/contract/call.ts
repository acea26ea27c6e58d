import type { operations } from "../../generated/types.ts";
import type { Clock, Engine, ScoredRequest } from "../inference/ports.ts";
import type { SliceOptions } from "../json/slices.ts";
import type { Received } from "../json/views.ts";

export type OperationId = keyof operations;

/** Operations that the web server answers itself, not in JSON. All others have handlers. */
const PAGE_IDS = ["getMetrics", "getDocs", "getRedoc"] as const satisfies readonly OperationId[];
export type PageId = (typeof PAGE_IDS)[number];
/** @typeParam Ops the generated operations of a document. Default: the plain contract's */
export type HandledId<Ops = operations> = Exclude<keyof Ops & string, PageId>;

export function isHandled(operationId: string): boolean {
  const pages: readonly string[] = PAGE_IDS;
  return !pages.includes(operationId);
}

/** A validated body. Objects whose names the caller chooses are Maps in the order sent. Values that may be any JSON are `JsonValue`s. */
export type RequestBody<Id extends keyof Ops, Ops = operations> = Ops[Id] extends {
  readonly requestBody: { readonly content: { readonly "application/json": infer Body } };
}
  ? Received<Body>
  : undefined;

type Responses<Id extends keyof Ops, Ops> = Ops[Id] extends { readonly responses: infer All } ? All : never;

/**
 * The JSON body of any response that the document declares, except the plain contract's error body: handlers throw errors. Objects
 * whose order matters may be given as `Map`s.
 */
export type ReplyBody<Id extends keyof Ops, Ops = operations> = {
  [Status in keyof Responses<Id, Ops>]: Responses<Id, Ops>[Status] extends {
    readonly content: { readonly "application/json": infer Body };
  }
    ? Exclude<Body, { readonly detail: unknown }>
    : never;
}[keyof Responses<Id, Ops>];

/** The argument of a handler. */
export interface Call<Id extends keyof Ops, Ops = operations> {
  readonly body: RequestBody<Id, Ops>;
  readonly requestId: string;
  /** Aborted when the caller has left. */
  readonly signal: AbortSignal;
  readonly arrivedAt?: number | undefined;
}

/** Tokens, pairs and times of an answer of the model, for logs and metrics. No content. */
export interface InferenceFacts extends Pick<ScoredRequest, "inputTokens" | "cachedPairs" | "timing"> {
  readonly questions: number;
  readonly pairs: number;
  /** Time on the service's clock when the body had been read and validated. */
  readonly startedAt: number;
}

/** The result of a handler. */
export interface Reply<Id extends keyof Ops, Ops = operations> {
  readonly status: number;
  readonly body: ReplyBody<Id, Ops> | Ordered<ReplyBody<Id, Ops>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly inference?: InferenceFacts;
}

/** The same type, in which each object with string keys may also be a Map of its members in order. */
export type Ordered<T> = T extends readonly (infer Item)[]
  ? readonly Ordered<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Ordered<T[K]> } | ReadonlyMap<string, Ordered<T[keyof T]>>
    : T;

/** The services that handlers can use. */
export interface Services {
  readonly engine: Engine;
  readonly clock: Clock;
  /** The bundled document of the contract, as served. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Its form for client generators. */
  readonly plainDocument: Readonly<Record<string, unknown>>;
  readonly version: string;
  /** Additional names of the served model, valid in this contract only. */
  readonly modelNames: readonly string[];
}

/** A reply that takes long. The handler returns it as a promise in an object, so that nothing references the body meanwhile. */
export interface Later<Id extends keyof Ops, Ops = operations> {
  readonly later: Promise<Reply<Id, Ops>>;
}

/** @typeParam Ops the generated operations of the document. Default: the plain contract's */
export type Handler<Id extends HandledId<Ops>, Ops = operations> = (
  call: Call<Id, Ops>,
  services: Services,
) => Promise<Reply<Id, Ops> | Later<Id, Ops>>;
/** One handler for each operation of a document. */
export type Handlers<Ops = operations> = { readonly [Id in HandledId<Ops>]: Handler<Id, Ops> };

/** A request from the web server. Its route is known and its key has been checked. */
export interface IncomingCall {
  readonly operationId: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Time on the service's clock when its headers had arrived, which starts the deadline. Default: its admission to the queue. */
  readonly arrivedAt?: number | undefined;
  /** How the body is read; its signal ends that. Default: `signal`. `end` is called when the body has been validated. */
  readonly reading?: (Pick<SliceOptions, "signal" | "clock"> & { end(): void }) | undefined;
  /** The bytes of the body, decoded and within the size limit; empty for operations without a body. */
  readonly body: Uint8Array;
}

/** A response ready to be sent. */
export interface OutgoingReply {
  readonly status: number;
  /** All headers, including `content-type`, except x-request-id and content-length, which the server sets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The thrown error of a 5xx, for the log only. */
  readonly cause?: unknown;
  /** Only for answers of the model. */
  readonly inference?: InferenceFacts | undefined;
}

/** Facts about an operation for routing and authentication. */
export interface Route {
  readonly method: "GET" | "POST";
  /** Path, including the contract's base path. */
  readonly path: string;
  readonly operationId: string;
  readonly hasBody: boolean;
  readonly needsKey: boolean;
}

/** The contract at run time: routes, validation, dispatch, error bodies. */
export interface Contract {
  readonly document: Readonly<Record<string, unknown>>;
  readonly routes: readonly Route[];
  /** @param headers names in lower case @throws ServiceError INVALID_REQUEST with one `media_type` issue */
  checkMediaType(headers: Readonly<Record<string, string | string[] | undefined>>): void;
  /** Reads and validates the body and calls the handler. Rejects only with CANCELLED, when the caller has left. */
  call(call: IncomingCall): Promise<OutgoingReply>;
  /** The same for callers in this program. Errors are thrown instead of converted. @throws ServiceError, or any other error of the handler */
  answer(call: IncomingCall): Promise<OutgoingReply>;
  /**
   * The response for anything thrown. An unknown error becomes a 500 that contains only the request id.
   *
   * @param operationId if known, because operations of dialects may have their own error bodies
   */
  errorReply(error: unknown, requestId: string, operationId?: string): OutgoingReply;
}
