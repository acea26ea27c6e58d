import { type Context, type Document, OpenAPIBackend } from "openapi-backend";
import { invalidRequest, ServiceError } from "../errors.ts";
import { writeJson } from "../json/write.ts";
import { aliasesOf, withUsedNames } from "./aliases.ts";
import { type ReceivedBody, readBody } from "./body.ts";
import {
  type Call,
  type Contract,
  type IncomingCall,
  type InferenceFacts,
  isHandled,
  type OutgoingReply,
  type Services,
} from "./call.ts";
import type { AnyHandlers, ContractRules } from "./dialect.ts";
import { errorReply, failureOf, JSON_TYPE } from "./error-reply.ts";
import { issuesOf } from "./issues.ts";
import { checkMediaType } from "./media-type.ts";
import { type ContractRoute, readRoutes } from "./routes.ts";
import { forAjv } from "./schema.ts";

export interface ContractParts {
  /** A bundled document (generated/openapi.json, or one of a dialect), parsed. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly handlers: AnyHandlers;
  readonly services: Services;
  /** Of a dialect. */
  readonly rules?: Partial<ContractRules>;
  /** Compiles the validators when the first request comes, not now. */
  readonly isLazy?: boolean;
}

/** Any operation's handler, as seen by the dispatcher: the body is already known to fit. */
type AnyHandler = (call: Call<never>, services: Services) => Promise<Handled>;

type BodilessCall = Omit<IncomingCall, "body">;

/** What the dispatcher passes on beside the plain body, which is the validator's. */
type DispatchedCall = BodilessCall & Partial<Pick<ReceivedBody, "sent" | "ordered">>;

interface AnyReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly inference?: InferenceFacts;
}

/** What a handler gives back, now or once the model has answered. */
type Handled = AnyReply | { readonly later: Promise<AnyReply> };

/**
 * Joins the contract with its handlers.
 *
 *     bytes -> JSON -> aliases -> plain view -> validation -> handler, with the ordered view -> JSON text
 *                                   anything thrown on the way -> errorReply
 *
 * @throws Error when an operation and a handler lack each other
 */
export async function createContract(parts: ContractParts): Promise<Contract> {
  const { document, handlers, services, rules = {} } = parts;
  // A test has found the committed document to be valid OpenAPI 3.0.
  const definition = document as unknown as Document;
  const routes = readRoutes(definition, rules.basePath);
  const byOperation = new Map(routes.map((route) => [route.operationId, route]));
  checkHandlers(routes, handlers);
  const newDispatcher = () => createDispatcher(definition, handlers, services);
  const dispatcherOf = parts.isLazy ? once(newDispatcher) : always(await newDispatcher());
  const tellError = rules.tellError === undefined ? errorReply : errorReplyOf(rules.tellError);
  let documentText: string | undefined;

  /** The document is written once: it takes a millisecond, and anybody may ask for it. */
  function written({ status, headers, body, inference }: AnyReply): OutgoingReply {
    const isDocument = body === services.document;
    const text = isDocument ? (documentText ?? writeJson(body)) : writeJson(body);
    if (isDocument) documentText = text;
    return { status, headers: { "content-type": JSON_TYPE, ...headers }, body: text, inference };
  }

  /** @param received nothing for operations without a body */
  async function handle(
    call: BodilessCall,
    { method, documentPath }: ContractRoute,
    received: Promise<ReceivedBody> | undefined,
  ): Promise<{ readonly reply: Promise<AnyReply> }> {
    const request = { method, path: documentPath, headers: {} };
    const dispatcher = await dispatcherOf();
    if (received === undefined) return { reply: replyOf(await dispatcher.handleRequest(request, call)) };
    const { plain, ordered, sent, usedNames } = await received;
    const rethrow = (error: unknown) => {
      throw withUsedNames(error, usedNames);
    };
    const handled = await dispatcher
      .handleRequest({ ...request, body: plain }, { ...call, ordered, sent })
      .catch(rethrow);
    return { reply: replyOf(handled).catch(rethrow) };
  }

  // Not an async function, and `handle` has ended when the wait begins: nothing that waits for the model holds the bytes of a
  // body or the values in it. 128 requests may wait with 2 MiB each, and the values are ten times that and more.
  function answer({ body, ...call }: IncomingCall): Promise<OutgoingReply> {
    const route = byOperation.get(call.operationId);
    if (route === undefined) return Promise.reject(unreachableError());
    const aliases = rules.aliases?.[call.operationId] ?? aliasesOf(call.operationId);
    const received = route.hasBody
      ? readBody({ ...call, body }, { schema: route.bodySchema, document, aliases })
      : undefined;
    return handle(call, route, received).then(async ({ reply }) => written(await reply));
  }

  return {
    document,
    routes,
    checkMediaType: (headers) => checkMediaType(headers, rules.contentCodings),
    errorReply: tellError,
    answer,
    call(call) {
      const { requestId, operationId } = call;
      return answer(call).catch((error: unknown) => {
        if (error instanceof ServiceError && error.kind === "CANCELLED") throw error;
        return tellError(error, requestId, operationId);
      });
    },
  };
}

type ErrorReply = Contract["errorReply"];

/** Errors with the bodies of a dialect. What it tells of is what the plain contract would have told. */
function errorReplyOf(tellError: ContractRules["tellError"]): ErrorReply {
  return (error, requestId, operationId) => {
    const failure = failureOf(error, requestId);
    const { status = failure.status, headers, body } = tellError(failure, operationId);
    const reply = {
      status,
      headers: { "content-type": JSON_TYPE, ...failure.headers, ...headers },
      body: writeJson(body),
    };
    return failure.cause === undefined ? reply : { ...reply, cause: failure.cause };
  };
}

function always<T>(value: T): () => T {
  return () => value;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The compiler sees to this too, but not to handlers and documents that are put together at run time. */
function checkHandlers(routes: readonly ContractRoute[], handlers: AnyHandlers): void {
  const expected: readonly string[] = routes.map(({ operationId }) => operationId).filter(isHandled);
  const given = Object.entries(handlers).flatMap(([id, handle]) =>
    typeof handle === "function" ? [id] : [],
  );
  const missing = expected.filter((id) => !given.includes(id));
  const unknown = given.filter((id) => !expected.includes(id));
  if (missing.length > 0) throw new Error(`Operations without a handler: ${missing.join(", ")}`);
  if (unknown.length > 0) throw new Error(`Handlers without an operation: ${unknown.join(", ")}`);
}

async function createDispatcher(
  definition: Document,
  handlers: AnyHandlers,
  services: Services,
): Promise<OpenAPIBackend> {
  const dispatcher = new OpenAPIBackend({
    definition: forAjv(definition),
    strict: true,
    // Without it, a start takes half a second longer, for validators of answers that nobody runs here and for a
    // check of the document that test/contract/document.test.ts makes.
    quick: true,
    // Collecting every error overflows the stack on a body with 60,000 faults; the plain view never has so many: of what
    // goes over a bound it keeps one member.
    // The document's schemas are the committed ones but for texts and examples, and a test has validated those: each of the
    // eight validators would compile its own copy of the meta-schema (0.2 s of a start).
    ajvOpts: { allErrors: true, discriminator: true, verbose: true, validateSchema: false },
    handlers: { ...dispatched(handlers, services), ...REFUSALS },
  });
  await dispatcher.init();
  dispatcher.validator.preCompileRequestValidators(); // else the first request waits for it
  return dispatcher;
}

function dispatched(handlers: AnyHandlers, services: Services) {
  // functions, as `checkHandlers` has seen; their types were compared with the document's by `Handlers`
  const entries = Object.entries(handlers as Readonly<Record<string, AnyHandler>>).map(
    ([operationId, handle]) => {
      const run = (_: Context, { ordered, requestId, signal, arrivedAt }: DispatchedCall): Promise<Handled> =>
        // its plain view has passed the validation of this very operation
        handle({ body: ordered as never, requestId, signal, arrivedAt }, services);
      return [operationId, run] as const;
    },
  );
  return Object.fromEntries(entries);
}

/** What openapi-backend asks for when a call does not reach its handler; what is unset ends as an obscure 500. */
const REFUSALS = {
  validationFail({ validation }: Context, { sent = new Map() }: DispatchedCall): never {
    throw invalidRequest(issuesOf(validation.errors ?? [], sent));
  },
  notFound: unreachable,
  methodNotAllowed: unreachable,
  notImplemented: unreachable,
  unauthorizedHandler: unreachable,
};

/** The path and the method come from the document itself, and the key is checked before the body is read. */
function unreachable(): never {
  throw unreachableError();
}

function unreachableError(): ServiceError {
  return new ServiceError("INTERNAL", "The contract did not find its own operation.");
}

async function replyOf(handled: Handled): Promise<AnyReply> {
  return "later" in handled ? handled.later : handled;
}
