import type { DialectError } from "../../src/contract/dialect.ts";
import type { Failure } from "../../src/contract/error-reply.ts";

/** Names for programs, by kind; the hosted service's where it is known to have one. */
const ERROR_TYPES: Partial<Record<Failure["kind"], string>> = {
  KEY_MISSING: "authentication_error",
  UNAUTHORIZED: "authentication_error",
  BODY_TOO_LARGE: "request_too_large",
  RATE_LIMITED: "rate_limit_error",
  QUEUE_FULL: "overloaded_error",
  OVERLOADED: "overloaded_error",
  STARTING: "overloaded_error",
  DRAINING: "overloaded_error",
  DEADLINE_EXCEEDED: "timeout_error",
};

/**
 * The bodies that TypeSafe's SDKs read: `detail` is a list of issues with 422, else `{error_type, message}`. As in the
 * hosted service, a request without a key gets 403, and one for an unknown model 400.
 */
export function typesafeError({ kind, detail }: Failure): DialectError {
  if (typeof detail !== "string") {
    const [issue] = detail;
    if (issue?.type !== "unsupported_model") return { body: { detail } };
    return { status: 400, body: fault("api_usage_error", issue.msg) };
  }
  const body = fault(ERROR_TYPES[kind] ?? "internal_error", detail);
  return kind === "KEY_MISSING" ? { status: 403, body } : { body };
}

function fault(errorType: string, message: string) {
  return { detail: { error_type: errorType, message } };
}
