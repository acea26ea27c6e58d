/**
 * What can happen, as a closed list. A kind is also the stable code that callers see: in the header `x-decision-error` and in the
 * messages of the command line. docs/errors.md explains each; only `src/contract` knows which HTTP status a kind becomes.
 */
export const ERROR_KINDS = [
  "MALFORMED_HTTP", // the HTTP message itself is broken
  "HEADERS_TIMEOUT",
  "HEADERS_TOO_LARGE",
  "EXPECTATION_FAILED", // `Expect` with something else than 100-continue
  "CONDITION_FAILED", // `Range` or `If-Match` on a file of a page
  "TOO_MANY_CONNECTIONS",
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "KEY_MISSING", // no key was sent
  "UNAUTHORIZED", // a wrong key was sent
  "BODY_TOO_LARGE",
  "INVALID_REQUEST", // carries issues
  "RATE_LIMITED", // the key has used up its minute; carries seconds
  "QUEUE_FULL",
  "OVERLOADED", // more work waits than can be done before the deadline; carries seconds
  "STARTING",
  "DRAINING",
  "DEADLINE_EXCEEDED",
  "CANCELLED", // the caller has left: nobody reads the answer
  "BACKEND_FAILED",
  "INTERNAL",
  "INVALID_OPTION", // a command-line option or environment variable
  "INVALID_MODEL", // a model package that cannot be served
  "PULL_FAILED", // a model that could not be fetched or stored
  "UNREACHABLE", // a running service that was to be asked and does not answer
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Member names (strings) and positions (numbers) from the body down; the first is always "body". */
export type Location = readonly (string | number)[];

/** What a 422 can report; the same closed set as `ValidationIssue.type` in the contract. */
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

/** One reason why a request was refused. `msg` gives what was expected and the type, count or size that came. */
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
 * The one error that the service throws on purpose. A message says what was expected, what came and what to change, and never
 * repeats request content.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly kind: ErrorKind;
  readonly issues: readonly Issue[];
  /** When another attempt makes sense, as a whole number from 1; undefined where nobody can tell. */
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: ErrorKind, message: string, options: ErrorDetails = {}) {
    super(message, options);
    this.kind = kind;
    this.issues = options.issues ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** The kind, under the name that errors of Node.js have it. */
  get code(): ErrorKind {
    return this.kind;
  }
}

/** Why the system refused a file, by its code. */
const FILE_FAULTS: Readonly<Record<string, string>> = {
  EACCES: "this user may not use it",
  EPERM: "this user may not use it",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is no folder",
  ELOOP: "its symbolic links form a circle",
  ENAMETOOLONG: "its name is too long",
  EROFS: "its file system is read-only",
  ENOSPC: "its disk is full",
  EMFILE: "this process has too many files open",
};

/**
 * Why a file could not be read or written, as the end of a sentence, with the system's code for those who search for it.
 *
 * @param missing says of what is needed and not there
 */
export function fileFault(cause: unknown, missing = "there is no such file"): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  const known = code === "ENOENT" ? missing : FILE_FAULTS[code ?? ""];
  if (known !== undefined) return `${known} (${code})`;
  return cause instanceof Error ? cause.message : String(cause);
}

/** Issues that one refusal reports at most. */
export const MAX_ISSUES = 20;

/** An INVALID_REQUEST with its issues, of which the first MAX_ISSUES are kept. */
export function invalidRequest(issues: readonly Issue[]): ServiceError {
  const kept = issues.slice(0, MAX_ISSUES);
  return new ServiceError("INVALID_REQUEST", kept[0]?.msg ?? "The request is invalid.", { issues: kept });
}

/** @returns the error for an option, a variable or a file that cannot be used */
export function invalidOption(message: string): ServiceError {
  return new ServiceError("INVALID_OPTION", message);
}
