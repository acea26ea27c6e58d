import { type Context, type Document, OpenAPIBackend } from "openapi-backend";
import { invalidRequest, ServiceError } from "../errors.ts";
import { writeJson } from "../json/write.ts";
import { checkMediaType, type ReceivedBody, readBody } from "./bodies/body.ts";
import { type Contract, type IncomingCall, isHandled, type OutgoingReply, type Services } from "./call.ts";
import type { AnyHandlers, ContractRules } from "./dialect.ts";
import { errorReply, failureOf, JSON_TYPE } from "./error-reply.ts";
import { type AnyInference, begin } from "./inference.ts";
import { issuesOf } from "./issues.ts";
import { type ContractRoute, forAjv, readRoutes, withUsedNames } from "./openapi.ts";

export interface ContractParts {
  /** A parsed bundled document: generated/openapi.typed.json, or that of a dialect. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly handlers: AnyHandlers;
  readonly services: Services;
  /** The rules of a dialect; undefined for the plain contract. */
  readonly rules?: Partial<ContractRules>;
  /** Whether to compile the validators at the first request instead of now. */
  readonly isLazy?: boolean;
}

/** The handler of any operation, as openapi-backend calls it. */
type AnyHandler = AnyInference | ((services: Services) => Promise<AnyReply>);

type BodilessCall = Omit<IncomingCall, "body">;

/** What openapi-backend passes on beside the plain body, which only its validator uses. */
interface DispatchedCall extends Partial<Pick<ReceivedBody, "sent" | "ordered" | "conflicts">> {
  readonly call: BodilessCall;
}

interface AnyReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A reply that takes long is a promise in an object, so that no stack frame holds the body meanwhile. */
interface Handled {
  readonly reply: AnyReply | Promise<AnyReply>;
}

/**
 * Creates the contract at run time from its document and its handlers.
 *
 *     bytes -> JSON -> aliases -> plain view -> validation -> handler, with the ordered view -> JSON text
 *                                   anything thrown on the way -> errorReply
 *
 * @throws Error if an operation has no handler, or a handler no operation
 */
export async function createContract(parts: ContractParts): Promise<Contract> {
  const { document, handlers, services, rules = {} } = parts;
  // a test checks that the committed document is valid OpenAPI 3.0
  const definition = document as unknown as Document;
  const routes = readRoutes(definition, rules);
  const byOperation = new Map(routes.map((route) => [route.operationId, route]));
  checkHandlers(routes, handlers);
  let opened: Promise<OpenAPIBackend> | undefined;
  const backend = () => {
    opened ??= openBackend(definition, rules.basePath, handlers, services);
    return opened;
  };
  if (!parts.isLazy) await backend();
  const replyTo = rules.errorOf === undefined ? errorReply : errorReplyOf(rules.errorOf);
  const documents = new Map<unknown, string>();

  /** Serializes a reply. A document is serialized once, because that takes a millisecond and anybody may request it. */
  function written({ status, headers, body }: AnyReply): OutgoingReply {
    const isDocument = body === services.document || body === services.plainDocument;
    const text = documents.get(body) ?? writeJson(body);
    if (isDocument) documents.set(body, text);
    return { status, headers: { "content-type": JSON_TYPE, ...headers }, body: text };
  }

  /** @param received undefined for operations without a body */
  async function handle(
    call: BodilessCall,
    { method, path }: ContractRoute,
    received: Promise<ReceivedBody> | undefined,
  ): Promise<Handled> {
    const api = await backend();
    const request = { method, path, headers: {} };
    if (received === undefined) return api.handleRequest(request, { call });
    const { plain, usedNames, ...validated } = await received;
    call.reading?.end();
    const rethrow = (error: unknown) => {
      throw withUsedNames(error, usedNames);
    };
    const { reply }: Handled = await api
      .handleRequest({ ...request, body: plain }, { call, ...validated })
      .catch(rethrow);
    return { reply: Promise.resolve(reply).catch(rethrow) };
  }

  // Not an async function, and `handle` has returned before the wait begins. So nothing that waits for the model
  // references a body or its values: 128 requests of 2 MiB each may wait, and parsed values take more than ten times
  // that.
  function answer({ body, ...call }: IncomingCall): Promise<OutgoingReply> {
    const route = byOperation.get(call.operationId);
    if (route === undefined) return Promise.reject(new Error("The contract has no such operation."));
    try {
      call.account?.takeRequest();
    } catch (error) {
      return Promise.reject(error);
    }
    const received = route.form && readBody(body, call.reading ?? { signal: call.signal }, route.form);
    return handle(call, route, received).then(async ({ reply }) => written(await reply));
  }

  return {
    document,
    routes,
    checkMediaType: (headers) => checkMediaType(headers, rules.contentCodings),
    errorReply: replyTo,
    answer,
    call(call) {
      const { requestId, operationId } = call;
      return answer(call).catch((error: unknown) => {
        if (error instanceof ServiceError && error.kind === "CANCELLED") throw error;
        return replyTo(error, requestId, operationId);
      });
    },
  };
}

type ErrorReply = Contract["errorReply"];

/** Error responses in the form of a dialect, made from those of the plain contract. */
function errorReplyOf(errorOf: ContractRules["errorOf"]): ErrorReply {
  return (error, requestId, operationId) => {
    const failure = failureOf(error, requestId);
    const { status = failure.status, headers, body } = errorOf(failure, operationId);
    const reply = {
      status,
      headers: { "content-type": JSON_TYPE, ...failure.headers, ...headers },
      body: writeJson(body),
    };
    return failure.cause === undefined ? reply : { ...reply, cause: failure.cause };
  };
}

/** The compiler checks this too, but not for dialects, which are combined with their documents at run time. */
function checkHandlers(routes: readonly ContractRoute[], handlers: AnyHandlers): void {
  const expected: readonly string[] = routes.map(({ operationId }) => operationId).filter(isHandled);
  const given = Object.entries(handlers).flatMap(([id, handle]) => (handle === undefined ? [] : [id]));
  const missing = expected.filter((id) => !given.includes(id));
  const unknown = given.filter((id) => !expected.includes(id));
  if (missing.length > 0) throw new Error(`Operations without a handler: ${missing.join(", ")}`);
  if (unknown.length > 0) throw new Error(`Handlers without an operation: ${unknown.join(", ")}`);
}

async function openBackend(
  definition: Document,
  apiRoot = "/",
  handlers: AnyHandlers,
  services: Services,
): Promise<OpenAPIBackend> {
  const api = new OpenAPIBackend({
    definition: forAjv(definition),
    apiRoot,
    strict: true,
    // saves half a second of the start: validators of responses, which are not used here, and a check of the
    // document, which test/contract/document.test.ts makes
    quick: true,
    // allErrors would overflow the stack on a body with 60,000 faults. The plain view never has so many, because it
    // keeps only one member beyond a limit.
    // validateSchema is off because a test validates the schemas, and each of the eight validators would compile its
    // own copy of the meta-schema (0.2 s of the start).
    ajvOpts: { allErrors: true, discriminator: true, verbose: true, validateSchema: false },
    handlers: { ...operationsOf(handlers, services), validationFail },
  });
  await api.init();
  api.validator.preCompileRequestValidators(); // so that the first request does not wait for it
  return api;
}

/** The handlers of all operations. They get the ordered view of the body, not the plain one that was validated. */
function operationsOf(handlers: AnyHandlers, services: Services) {
  // the type `Handlers` has checked them
  const entries = Object.entries(handlers as Readonly<Record<string, AnyHandler>>).map(
    ([operationId, handler]) => {
      const run = async (_: Context, { call, ordered, conflicts = [] }: DispatchedCall): Promise<Handled> => {
        if (conflicts.length > 0) throw invalidRequest(conflicts);
        return typeof handler === "function"
          ? { reply: await handler(services) }
          : begin(handler, ordered, call, services);
      };
      return [operationId, run] as const;
    },
  );
  return Object.fromEntries(entries);
}

function validationFail(
  { validation }: Context,
  { sent = new Map(), conflicts = [] }: DispatchedCall,
): never {
  throw invalidRequest([...conflicts, ...issuesOf(validation.errors ?? [], sent)]);
}
