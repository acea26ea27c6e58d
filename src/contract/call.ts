import type { operations } from "../../generated/types.ts";
import type { RenderedRequest } from "../decisions/request.ts";
import type { Clock } from "../inference/clock.ts";
import type { Engine, ModelFacts, ScoredRequest, ScoringJob } from "../inference/engine.ts";
import type { ReadRequest } from "../inference/read-request.ts";
import type { SliceOptions } from "../json/slices.ts";
import type { JsonValue } from "../json/value.ts";
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

/**
 * A validated body. Objects whose names the caller chooses are Maps in the order sent. Values that may be any JSON are
 * `JsonValue`s.
 */
export type RequestBody<Id extends keyof Ops, Ops = operations> = Ops[Id] extends {
  readonly requestBody: { readonly content: { readonly "application/json": infer Body } };
}
  ? Received<Body>
  : undefined;

type Responses<Id extends keyof Ops, Ops> = Ops[Id] extends { readonly responses: infer All } ? All : never;

/**
 * The JSON body of any response that the document declares, except the plain contract's error body: handlers throw
 * errors. Objects whose order matters may be given as `Map`s.
 */
export type ReplyBody<Id extends keyof Ops, Ops = operations> = {
  [Status in keyof Responses<Id, Ops>]: Responses<Id, Ops>[Status] extends {
    readonly content: { readonly "application/json": infer Body };
  }
    ? Exclude<Body, { readonly detail: unknown }>
    : never;
}[keyof Responses<Id, Ops>];

/** The JSON body of the response 200. */
type AnswerBody<Id extends keyof Ops, Ops> =
  Responses<Id, Ops> extends {
    readonly 200: { readonly content: { readonly "application/json": infer Body } };
  }
    ? Body
    : never;

/** Tokens, pairs and times of an answer of the model, for logs, metrics and traces. No content. */
export interface InferenceFacts
  extends Pick<ScoredRequest, "inputTokens" | "cachedPairs" | "indistinct" | "timing"> {
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
}

/** The same type, in which each object with string keys may also be a Map of its members in order. */
export type Ordered<T> = T extends readonly (infer Item)[]
  ? readonly Ordered<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Ordered<T[K]> } | ReadonlyMap<string, Ordered<T[keyof T]>>
    : T;

/** The services that an operation without the model can use. */
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
  /** Whether the accepted keys are those of the operator's file; undefined without a file. */
  readonly areKeysCurrent?: (() => boolean | undefined) | undefined;
}

/**
 * An operation that does not ask the model.
 *
 * @typeParam Ops the generated operations of the document. Default: the plain contract's
 */
export type Handler<Id extends HandledId<Ops>, Ops = operations> = (
  services: Services,
) => Promise<Reply<Id, Ops>>;

/**
 * An operation that asks the model: from a body to texts, and from scores to an answer. `inference.ts` does everything
 * in between and around it: queue, deadline, tunings, limits of keys, headers, metrics, logs and traces.
 *
 * @typeParam Facts what the answer needs to know of the request
 */
export interface Inference<Id extends HandledId<Ops>, Facts, Ops = operations> {
  /** @throws ServiceError INVALID_REQUEST | CANCELLED */
  read(body: RequestBody<Id, Ops>, facts: ReadFacts): Promise<Work<Facts>> | Work<Facts>;
  /** @throws ServiceError BACKEND_FAILED for scores that do not fit */
  answer(facts: Facts, scored: Scored, model: ModelFacts): Answer<AnswerBody<Id, Ops>>;
}

/** What `read` may use besides the body. */
export interface ReadFacts {
  /** With all names that this contract accepts for it. */
  readonly model: ModelFacts;
  readonly requestId: string;
  /** Aborted when the caller has left. */
  readonly signal: AbortSignal;
  /** How the model's tokenizer reads a request. @throws ServiceError INVALID_REQUEST (too_many_tokens) */
  readTokens(request: RenderedRequest): Promise<ReadRequest>;
}

/** What a request asks of the model. */
export interface Work<Facts> {
  /** Requests of any size, or a job that prepares them once it has a place in the queue. */
  readonly texts: readonly RenderedRequest[] | ScoringJob;
  /** Held until the answer, so it should hold neither the body nor the texts. */
  readonly facts: Facts;
}

/** What the model says. */
export interface Scored extends Pick<ScoredRequest, "inputTokens" | "cachedPairs"> {
  /** One [candidates] array for each question of all requests, in order. Corrected by the operator's tunings. */
  readonly scores: readonly Float32Array[];
  /** From the validated body to the scores, in milliseconds. */
  readonly latencyMs: number;
}

export interface Answer<Body> {
  readonly body: Body | Ordered<Body>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One handler for each operation of a document. */
export type Handlers<Ops = operations> = {
  readonly [Id in HandledId<Ops>]: Handler<Id, Ops> | Inference<Id, unknown, Ops>;
};

/** The limits of the key that a request was sent with. */
export interface Account {
  /** Counts a call. @throws ServiceError RATE_LIMITED */
  takeRequest(): void;
  /** Counts tokens. @returns gives a part of them back @throws ServiceError RATE_LIMITED */
  takeTokens(tokens: number): (part: number) => void;
}

/** A request from the web server. Its route is known and its key has been checked. */
export interface IncomingCall {
  readonly operationId: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /**
   * Time on the service's clock when its headers had arrived, which starts the deadline. Default: its admission to the
   * queue.
   */
  readonly arrivedAt?: number | undefined;
  /**
   * How the body is read; its signal ends that. Default: `signal`. `end` is called when the body has been validated.
   */
  readonly reading?: (Pick<SliceOptions, "signal" | "clock"> & { end(): void }) | undefined;
  /**
   * The bytes of the body, decoded and within the size limit, or the value in them if the caller has read it within the
   * limits of size and depth. Ignored for operations without a body.
   */
  readonly body: Uint8Array | JsonValue;
  /** Undefined: no limits. */
  readonly account?: Account | undefined;
  /** Called with the facts of each answer of the model. */
  readonly onInference?: ((facts: InferenceFacts) => void) | undefined;
}

/** A response ready to be sent. */
export interface OutgoingReply {
  readonly status: number;
  /** All headers, including `content-type`, except x-request-id and content-length, which the server sets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The thrown error of a 5xx, for the log only. */
  readonly cause?: unknown;
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
  /**
   * The same for callers in this program. Errors are thrown instead of converted.
   * @throws ServiceError, or any other error of the handler
   */
  answer(call: IncomingCall): Promise<OutgoingReply>;
  /**
   * The response for anything thrown. An unknown error becomes a 500 that contains only the request id.
   *
   * @param operationId if known, because operations of dialects may have their own error bodies
   */
  errorReply(error: unknown, requestId: string, operationId?: string): OutgoingReply;
}
