import { splitsPair } from "../decisions/texts.ts";
import { type ErrorKind, type Issue, MAX_ISSUES, messageOf, ServiceError } from "../errors.ts";
import { writeJson } from "../json/write.ts";
import type { OutgoingReply } from "./call.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

/** Response header with the code of an error. */
export const CODE_HEADER = "x-decision-error";
const MAX_NAME_LENGTH = 100;
const RETRY_SOON = { "retry-after": "1" };

interface Rule {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Message that replaces the error's own one; the request id is added. */
  readonly sentence?: string;
}

const FAILED: Rule = { status: 500, sentence: "The service failed." };

const UNAUTHORIZED: Rule = { status: 401, headers: { "www-authenticate": "Bearer" } };

/** HTTP status and headers of each kind of error. The only place that maps kinds to statuses. */
const RULES: Readonly<Record<ErrorKind, Rule>> = {
  MALFORMED_HTTP: { status: 400 },
  HEADERS_TIMEOUT: { status: 408 },
  HEADERS_TOO_LARGE: { status: 431 },
  EXPECTATION_FAILED: { status: 417 },
  CONDITION_FAILED: { status: 412 }, // 416 for a range
  TOO_MANY_CONNECTIONS: { status: 503, headers: RETRY_SOON },
  KEY_MISSING: UNAUTHORIZED,
  UNAUTHORIZED,
  HOST_NOT_ALLOWED: { status: 403 },
  ORIGIN_NOT_ALLOWED: { status: 403 },
  NOT_FOUND: { status: 404 },
  METHOD_NOT_ALLOWED: { status: 405 }, // the server adds `allow`, because it knows the path
  BODY_TOO_LARGE: { status: 413 },
  INVALID_REQUEST: { status: 422 },
  RATE_LIMITED: { status: 429, headers: RETRY_SOON }, // unless the error has a time of its own
  QUEUE_FULL: { status: 503, headers: RETRY_SOON },
  OVERLOADED: { status: 503, headers: RETRY_SOON }, // unless the error has a time of its own
  STARTING: { status: 503, headers: RETRY_SOON },
  DRAINING: { status: 503, headers: RETRY_SOON },
  DEADLINE_EXCEEDED: { status: 504 },
  BACKEND_FAILED: { status: 500, sentence: "The inference backend failed." },
  INTERNAL: FAILED,
  // these never reach a caller, unless the service has a bug
  CANCELLED: FAILED,
  INVALID_OPTION: FAILED,
  INVALID_MODEL: FAILED,
  PULL_FAILED: FAILED,
  UNREACHABLE: FAILED,
};

/** The response for anything thrown. An unknown error becomes a 500 that contains only the request id. */
export function errorReply(error: unknown, requestId: string): OutgoingReply {
  const { status, headers, detail, cause } = failureOf(error, requestId);
  const reply = { status, headers: { "content-type": JSON_TYPE, ...headers }, body: writeJson({ detail }) };
  return cause === undefined ? reply : { ...reply, cause };
}

/** An error response of the plain contract, before it is serialized. */
export interface Failure {
  readonly kind: ErrorKind;
  readonly status: number;
  /** Headers without `content-type`. */
  readonly headers: Readonly<Record<string, string>>;
  /** A sentence; with INVALID_REQUEST 1 to 20 issues. */
  readonly detail: string | readonly Issue[];
  /** The thrown error of a 5xx that is the service's own fault, for the log only. */
  readonly cause?: unknown;
}

/** The facts about anything thrown that a caller may see. */
export function failureOf(error: unknown, requestId: string): Failure {
  const kind = error instanceof ServiceError ? error.kind : "INTERNAL";
  const { status, headers, sentence } = RULES[kind];
  const common = {
    kind,
    status,
    headers: { [CODE_HEADER]: shownKind(kind), ...headers, ...retryAfter(error) },
  };
  if (sentence !== undefined)
    return { ...common, detail: `${sentence} Request id ${requestId}.`, cause: error };
  return { ...common, detail: kind === "INVALID_REQUEST" ? issuesIn(error) : messageOf(error) };
}

function shownKind(kind: ErrorKind): ErrorKind {
  return RULES[kind] === FAILED ? "INTERNAL" : kind;
}

function retryAfter(error: unknown): Readonly<Record<string, string>> {
  const seconds = error instanceof ServiceError ? error.retryAfterSeconds : undefined;
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}

/** A member name as locations show it: at most 100 characters, never half a surrogate pair. */
function locationName(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name;
  return name.slice(0, splitsPair(name, MAX_NAME_LENGTH) ? MAX_NAME_LENGTH - 1 : MAX_NAME_LENGTH);
}

/** 1 to 20 issues of an error. The only place where issues and names are truncated. */
function issuesIn(error: unknown): readonly Issue[] {
  const issues = error instanceof ServiceError ? error.issues : [];
  if (issues.length === 0) return [{ loc: ["body"], msg: messageOf(error), type: "wrong_type" }];
  return issues.slice(0, MAX_ISSUES).map(({ loc, msg, type }) => ({
    loc: loc.map((step) => (typeof step === "string" ? locationName(step) : step)),
    msg,
    type,
  }));
}
