/**
 * The one error that the service throws on purpose.
 *
 * A kind says what happened; only `src/contract` knows the HTTP status that a kind becomes. A message says
 * what was expected, what came and what to change, and never repeats request content.
 */
export type ErrorKind =
  | "MALFORMED_HTTP" // the HTTP message itself is broken
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "UNAUTHORIZED"
  | "BODY_TOO_LARGE"
  | "INVALID_REQUEST" // carries issues
  | "RATE_LIMITED" // the key has used up its minute; carries seconds
  | "QUEUE_FULL"
  | "OVERLOADED" // more work waits than can be done before the deadline; carries seconds
  | "STARTING"
  | "DRAINING"
  | "DEADLINE_EXCEEDED"
  | "CANCELLED" // the caller has left: nobody reads the answer
  | "BACKEND_FAILED"
  | "INTERNAL"
  | "INVALID_OPTION" // a command-line option or environment variable
  | "INVALID_MODEL" // a model package that cannot be served
  | "PULL_FAILED"; // a model that could not be fetched or stored

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
}

/** Issues that one refusal reports at most. */
export const MAX_ISSUES = 20;

/** An INVALID_REQUEST with its issues, of which the first MAX_ISSUES are kept. */
export function invalidRequest(issues: readonly Issue[]): ServiceError {
  const kept = issues.slice(0, MAX_ISSUES);
  return new ServiceError("INVALID_REQUEST", kept[0]?.msg ?? "The request is invalid.", { issues: kept });
}
