import type { Aliases } from "../json/aliases.ts";
import type { Handlers } from "./call.ts";
import type { Failure } from "./error-reply.ts";
import type { ContentCoding } from "./media-type.ts";

/** An error as a dialect tells it. What is left out stays as the plain contract has it. */
export interface ToldError {
  readonly status?: number;
  /** Added to those of the plain contract. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Written as JSON. */
  readonly body: unknown;
}

/** What may set a contract apart from the plain one, beyond its document and its handlers. */
export interface ContractRules {
  /** Before every path of the document, such as "/typesafe"; "" is the root. */
  readonly basePath: string;
  /** Other names of members of bodies, by operationId. */
  readonly aliases: Readonly<Record<string, Aliases>>;
  /** Codings of bodies that are decoded before they are read. */
  readonly contentCodings: readonly ContentCoding[];
  /** Most bytes of a body, decoded; undefined: as in the plain contract. */
  readonly maxBodyBytes: number | undefined;
  /** Operations (operationIds) that take the key without `Bearer ` too. */
  readonly bareKeys: readonly string[];
  /** A second name of the header x-request-id in every answer. */
  readonly requestIdHeader: string | undefined;
  /** @param operationId undefined where the error belongs to no operation */
  tellError(failure: Failure, operationId: string | undefined): ToldError;
}

/** A contract that is served beside the plain one: openapi/NAME.yaml and its handlers. */
export interface Dialect extends Partial<ContractRules> {
  /** The document is generated/NAME.json. */
  readonly name: string;
  /** By operationId; made by `handlersOf`. */
  readonly handlers: AnyHandlers;
  /** Further names of the served model, in this contract only. */
  readonly modelNames?: readonly string[];
  /** Served only where the operator asks for it. */
  readonly isOptional?: boolean;
}

/** Handlers whose document the compiler no longer knows; start-up compares them with it. */
export type AnyHandlers = Readonly<Record<string, unknown>>;

/** Has the compiler compare handlers with the operations of a document. @typeParam Ops its generated `operations` */
export function handlersOf<Ops>(handlers: Handlers<Ops>): AnyHandlers {
  return handlers;
}
