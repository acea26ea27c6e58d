import type { operations } from "../../generated/types.ts";
import type { Clock, Engine, ScoredRequest } from "../inference/ports.ts";
import type { Received } from "../json/views.ts";

export type OperationId = keyof operations;

/** What the web server itself answers, not in JSON; every other operation has a handler. */
const PAGE_IDS = ["getMetrics", "getDocs", "getRedoc"] as const satisfies readonly OperationId[];
export type PageId = (typeof PAGE_IDS)[number];
/** @typeParam Ops the generated operations of a document; the plain contract's unless given */
export type HandledId<Ops = operations> = Exclude<keyof Ops & string, PageId>;

export function isHandled(operationId: string): boolean {
  const pages: readonly string[] = PAGE_IDS;
  return !pages.includes(operationId);
}

/** The validated body: objects of the caller's own names are Maps in the order sent, values that may be any JSON are `JsonValue`s. */
export type RequestBody<Id extends keyof Ops, Ops = operations> = Ops[Id] extends {
  readonly requestBody: { readonly content: { readonly "application/json": infer Body } };
}
  ? Received<Body>
  : undefined;

type Responses<Id extends keyof Ops, Ops> = Ops[Id] extends { readonly responses: infer All } ? All : never;

/** The JSON body of each answer that the document declares. Maps whose order matters are given as `Map`s. */
export type ReplyBody<Id extends keyof Ops, Ops = operations> = {
  [Status in keyof Responses<Id, Ops>]: Responses<Id, Ops>[Status] extends {
    readonly content: { readonly "application/json": infer Body };
  }
    ? Body
    : never;
}[keyof Responses<Id, Ops>];

/** What a handler is given. */
export interface Call<Id extends keyof Ops, Ops = operations> {
  readonly body: RequestBody<Id, Ops>;
  readonly requestId: string;
  /** Aborted when the caller has left. */
  readonly signal: AbortSignal;
  readonly arrivedAt?: number | undefined;
}

/** What an answer of the model took, for logs and metrics. Nothing of its content. */
export interface InferenceFacts extends Pick<ScoredRequest, "inputTokens" | "cachedPairs" | "timing"> {
  readonly questions: number;
  readonly pairs: number;
  /** When its body had been read and checked, on the services' clock. */
  readonly startedAt: number;
}

/** What a handler gives back. */
export interface Reply<Id extends keyof Ops, Ops = operations> {
  readonly status: number;
  readonly body: ReplyBody<Id, Ops> | Ordered<ReplyBody<Id, Ops>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly inference?: InferenceFacts;
}

/** The same shape with any string-keyed object given as a Map of its members in order. */
export type Ordered<T> = T extends readonly (infer Item)[]
  ? readonly Ordered<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Ordered<T[K]> } | ReadonlyMap<string, Ordered<T[keyof T]>>
    : T;

/** What handlers may use. */
export interface Services {
  readonly engine: Engine;
  readonly clock: Clock;
  /** The bundled document of the contract, as served. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly version: string;
  /** Further names of the served model, in this contract only. */
  readonly modelNames: readonly string[];
}

/** Where an answer takes long: then nothing waits with the values of the body in its hands. */
export interface Later<Id extends keyof Ops, Ops = operations> {
  readonly later: Promise<Reply<Id, Ops>>;
}

/** @typeParam Ops the generated operations of the document; the plain contract's unless given */
export type Handler<Id extends HandledId<Ops>, Ops = operations> = (
  call: Call<Id, Ops>,
  services: Services,
) => Promise<Reply<Id, Ops> | Later<Id, Ops>>;
/** One for each operation of a document. */
export type Handlers<Ops = operations> = { readonly [Id in HandledId<Ops>]: Handler<Id, Ops> };

/** A request as the web server hands it over; the route is known, the key checked. */
export interface IncomingCall {
  readonly operationId: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** When its headers were there, on the services' clock: the deadline counts from then, else from its admission. */
  readonly arrivedAt?: number | undefined;
  /** The body's bytes, decoded and within the limit; empty for operations without one. */
  readonly body: Uint8Array;
}

/** An answer ready to be written. */
export interface OutgoingReply {
  readonly status: number;
  /** Without x-request-id and content-length, which the server sets; `content-type` included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** With a 5xx, what was thrown: for the log, never for the caller. */
  readonly cause?: unknown;
  /** With an answer of the model. */
  readonly inference?: InferenceFacts | undefined;
}

/** An operation's place in a contract, for routing and authentication. */
export interface Route {
  readonly method: "GET" | "POST";
  /** With the contract's base path. */
  readonly path: string;
  readonly operationId: string;
  readonly hasBody: boolean;
  readonly needsKey: boolean;
}

/** The contract at run time: routes, validation, dispatch, error bodies. */
export interface Contract {
  readonly document: Readonly<Record<string, unknown>>;
  readonly routes: readonly Route[];
  /** @throws ServiceError INVALID_REQUEST with one `media_type` issue. Header names in lower case. */
  checkMediaType(headers: Readonly<Record<string, string | string[] | undefined>>): void;
  /** Reads, validates, dispatches. Never rejects, except with CANCELLED when the caller has left. */
  call(call: IncomingCall): Promise<OutgoingReply>;
  /** The same for a caller in this program, who gets what was thrown. @throws ServiceError, or what else was thrown */
  answer(call: IncomingCall): Promise<OutgoingReply>;
  /**
   * The answer for anything thrown; an unknown error becomes a 500 that says only the request id.
   *
   * @param operationId where one is known: an operation of a dialect may have an error body of its own
   */
  errorReply(error: unknown, requestId: string, operationId?: string): OutgoingReply;
}
