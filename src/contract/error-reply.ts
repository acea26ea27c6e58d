import { type ErrorKind, type Issue, MAX_ISSUES, ServiceError } from "../errors.ts";
import { writeJson } from "../json/write.ts";
import type { OutgoingReply } from "./call.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

const MAX_NAME_LENGTH = 100;
const RETRY_SOON = { "retry-after": "1" };

interface Rule {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Said instead of the error's own message, with the request id. */
  readonly sentence?: string;
}

const FAILED: Rule = { status: 500, sentence: "The service failed." };

/** The only place where a kind of error meets an HTTP status. */
const RULES: Readonly<Record<ErrorKind, Rule>> = {
  MALFORMED_HTTP: { status: 400 },
  UNAUTHORIZED: { status: 401, headers: { "www-authenticate": "Bearer" } },
  NOT_FOUND: { status: 404 },
  METHOD_NOT_ALLOWED: { status: 405 }, // `allow` is the server's, who knows the path
  BODY_TOO_LARGE: { status: 413 },
  INVALID_REQUEST: { status: 422 },
  RATE_LIMITED: { status: 429, headers: RETRY_SOON }, // or as the error says
  QUEUE_FULL: { status: 503, headers: RETRY_SOON },
  OVERLOADED: { status: 503, headers: RETRY_SOON }, // or as the error says
  STARTING: { status: 503, headers: RETRY_SOON },
  DRAINING: { status: 503, headers: RETRY_SOON },
  DEADLINE_EXCEEDED: { status: 504 },
  BACKEND_FAILED: { status: 500, sentence: "The inference backend failed." },
  INTERNAL: FAILED,
  // None of these reaches a caller; if one does, something is wrong here.
  CANCELLED: FAILED,
  INVALID_OPTION: FAILED,
  INVALID_MODEL: FAILED,
  PULL_FAILED: FAILED,
};

/** The answer for anything thrown; an unknown error becomes a 500 that says only the request id. */
export function errorReply(error: unknown, requestId: string): OutgoingReply {
  const { status, headers, sentence } = error instanceof ServiceError ? RULES[error.kind] : FAILED;
  const reply = { status, headers: { "content-type": JSON_TYPE, ...headers, ...retryAfter(error) } };
  if (sentence !== undefined) {
    return { ...reply, body: writeJson({ detail: `${sentence} Request id ${requestId}.` }), cause: error };
  }
  const detail = status === 422 ? issuesIn(error) : messageOf(error);
  return { ...reply, body: writeJson({ detail }) };
}

function retryAfter(error: unknown): Readonly<Record<string, string>> {
  const seconds = error instanceof ServiceError ? error.retryAfterSeconds : undefined;
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}

/** A member name as locations show it: at most 100 characters, never half a surrogate pair. */
function locationName(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name;
  const last = name.charCodeAt(MAX_NAME_LENGTH - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return name.slice(0, splitsPair ? MAX_NAME_LENGTH - 1 : MAX_NAME_LENGTH);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

/** Never empty, at most 20, names cut: the only place where they are. */
function issuesIn(error: unknown): readonly Issue[] {
  const issues = error instanceof ServiceError ? error.issues : [];
  if (issues.length === 0) return [{ loc: ["body"], msg: messageOf(error), type: "wrong_type" }];
  return issues.slice(0, MAX_ISSUES).map(({ loc, msg, type }) => ({
    loc: loc.map((step) => (typeof step === "string" ? locationName(step) : step)),
    msg,
    type,
  }));
}
