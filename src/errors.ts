/**
 * All kinds of errors, as a closed list. A kind is also the stable code that callers see: in the header
 * `x-decision-error` and in the messages of the command line. docs/errors.md explains each one. Only `src/contract`
 * knows their HTTP statuses.
 */
export const ERROR_KINDS = [
  "MALFORMED_HTTP", // the HTTP message itself is broken
  "HEADERS_TIMEOUT",
  "HEADERS_TOO_LARGE",
  "EXPECTATION_FAILED", // `Expect` with a value other than 100-continue
  "CONDITION_FAILED", // `Range` or `If-Match` on a file of a page
  "TOO_MANY_CONNECTIONS",
  "HOST_NOT_ALLOWED", // the Host header of a request to the loopback names another host
  "ORIGIN_NOT_ALLOWED", // a page of another site has sent the request
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "KEY_MISSING", // no key was sent
  "UNAUTHORIZED", // a wrong key was sent
  "BODY_TOO_LARGE",
  "INVALID_REQUEST", // carries issues
  "RATE_LIMITED", // the key has reached its limit per minute; carries the seconds to wait
  "QUEUE_FULL",
  "OVERLOADED", // the request could not be answered before its deadline; carries the seconds to wait
  "STARTING",
  "DRAINING",
  "DEADLINE_EXCEEDED",
  "CANCELLED", // the caller has disconnected
  "BACKEND_FAILED",
  "INTERNAL",
  "INVALID_OPTION", // an invalid option: flag, environment variable or configuration file
  "INVALID_MODEL", // a model package that cannot be served
  "PULL_FAILED", // a model that could not be fetched or stored
  "UNREACHABLE", // a service that a command or a program has called does not respond
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Path to a value: member names (strings) and positions (numbers). The first element is always "body". */
export type Location = readonly (string | number)[];

/** Types of issues in a 422; the same closed set as `ValidationIssue.type` in the contract. */
export const ISSUE_TYPES = [
  "media_type",
  "invalid_json",
  "duplicate_member",
  "nesting_too_deep",
  "wrong_type",
  "missing",
  "unknown_field",
  "unknown_value",
  "too_few",
  "too_many",
  "alias_conflict",
  "blank",
  "not_distinct",
  "unsupported_model",
  "too_many_pairs",
  "too_many_tokens",
] as const;
export type IssueType = (typeof ISSUE_TYPES)[number];

/** One reason why a request was refused. `msg` says what was expected and what type, count or size was received. */
export interface Issue {
  readonly loc: Location;
  readonly msg: string;
  readonly type: IssueType;
}

interface ErrorDetails extends ErrorOptions {
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number;
}

/**
 * The only error class that the service throws deliberately. Messages say what was expected, what was received and what to
 * change. They never repeat content of requests.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly kind: ErrorKind;
  readonly issues: readonly Issue[];
  /** Seconds after which to retry, at least 1; undefined if unknown. */
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: ErrorKind, message: string, options: ErrorDetails = {}) {
    super(message, options);
    this.kind = kind;
    this.issues = options.issues ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** Same as `kind`: errors of Node.js call it `code`. */
  get code(): ErrorKind {
    return this.kind;
  }
}

/** Why the system refused a file, by its code. */
const FILE_FAULTS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "the operation is not permitted",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  ELOOP: "its symbolic links form a loop",
  ENAMETOOLONG: "its name is too long",
  EROFS: "its file system is read-only",
  ENOSPC: "its disk is full",
  EPIPE: "its reader has closed it",
  EMFILE: "this process has too many files open",
};

/**
 * Why a file could not be read or written, as the end of a sentence, followed by the system's error code.
 *
 * @param missing text for a file that does not exist
 */
export function fileFault(cause: unknown, missing = "there is no such file"): string {
  const code = codeOf(cause);
  const known = code === "ENOENT" ? missing : FILE_FAULTS[code ?? ""];
  if (known !== undefined) return `${known} (${code})`;
  return messageOf(cause);
}

/** The message of anything thrown; of an error of the system that has none, its code. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || (codeOf(error) ?? error.name) : String(error);
}

/** The code of an error of the system or of Node.js. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** A text of the operator as messages show it. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}

/** Maximum number of issues in one refusal. */
export const MAX_ISSUES = 20;

/** An INVALID_REQUEST with its issues, of which the first MAX_ISSUES are kept. */
export function invalidRequest(issues: readonly Issue[]): ServiceError {
  const kept = issues.slice(0, MAX_ISSUES);
  return new ServiceError("INVALID_REQUEST", kept[0]?.msg ?? "Expected a valid request, got another.", {
    issues: kept,
  });
}

/** @returns the error for a package or a file of it that cannot be used */
export function invalidModel(message: string, cause?: unknown): ServiceError {
  return new ServiceError("INVALID_MODEL", message, { cause });
}

/** @returns the error for an option, a variable or a file that cannot be used */
export function invalidOption(message: string): ServiceError {
  return new ServiceError("INVALID_OPTION", message);
}
