import type { Aliases } from "../json/aliases.ts";
import type { ContentCoding } from "./bodies/body.ts";
import type { Handlers } from "./call.ts";
import type { Failure } from "./error-reply.ts";

/** An error in the form of a dialect. Members left out are those of the plain contract. */
export interface DialectError {
  readonly status?: number;
  /** Headers in addition to those of the plain contract. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Body, serialized as JSON. */
  readonly body: unknown;
}

/** Differences of a dialect from the plain contract, apart from its document and its handlers. */
export interface ContractRules {
  /** Prefix of every path of the document, such as "/typesafe"; "" for the root. */
  readonly basePath: string;
  /** Aliases of members of bodies, by operationId. */
  readonly aliases: Readonly<Record<string, Aliases>>;
  /** Content codings that are accepted and decoded. */
  readonly contentCodings: readonly ContentCoding[];
  /** Maximum bytes of a decoded body. Undefined: as in the plain contract. */
  readonly maxBodyBytes: number | undefined;
  /** Operations (operationIds) that also accept the key without `Bearer `. */
  readonly bareKeys: readonly string[];
  /** A second header that repeats x-request-id in every response. */
  readonly requestIdHeader: string | undefined;
  /** @param operationId undefined if the error belongs to no operation */
  errorOf(failure: Failure, operationId: string | undefined): DialectError;
}

/** A contract of another product, served beside the plain one: openapi/NAME.yaml and its handlers. */
export interface Dialect extends Partial<ContractRules> {
  /** The document is generated/NAME.json. */
  readonly name: string;
  /** Handlers by operationId, made by `handlersOf`. */
  readonly handlers: AnyHandlers;
  /** Additional names of the served model, valid in this contract only. */
  readonly modelNames?: readonly string[];
  /** Whether it is served only if the operator enables it. */
  readonly isOptional?: boolean;
}

/** Handlers without the type of their document. They are compared with the document at start-up. */
export type AnyHandlers = Readonly<Record<string, unknown>>;

/** Makes the compiler check handlers against the operations of a document. @typeParam Ops its generated `operations` */
export function handlersOf<Ops>(handlers: Handlers<Ops>): AnyHandlers {
  return handlers;
}
