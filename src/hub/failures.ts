import { codeOf, ServiceError } from "../errors.ts";

/** A failure that a retry may solve. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  /** Delay that the server asked for, if any. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { retryAfterMs?: number | undefined } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

export function failed(message: string, cause?: unknown): ServiceError {
  return new ServiceError("PULL_FAILED", message, { cause });
}

/** The refused request. */
export interface Asked {
  readonly endpoint: string;
  readonly repository: string;
  readonly revision: string;
  /** Path of a file; "" for the repository itself. */
  readonly name: string;
  readonly hasToken: boolean;
}

export interface Refusal {
  readonly status: number;
  /** Host that refused. */
  readonly host: string;
  /** Whether the hub itself refused, not a host that it redirects to. */
  readonly isHub: boolean;
  readonly header: (name: string) => string | undefined;
}

/** Statuses of temporary failures. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

/** The error for a status without a file. */
export function refusalError(refusal: Refusal, asked: Asked): ServiceError | Interruption {
  const { status, host, isHub } = refusal;
  if (PASSING.has(status) || status >= 500) {
    const what = status === 429 ? "limits the request rate" : "has a temporary failure";
    return new Interruption(`${host} ${what} (${status}${said(refusal)})`, {
      retryAfterMs: retryAfterMs(refusal.header("retry-after")),
    });
  }
  // the redirect may have expired; the hub gives a new one
  if (!isHub && status < 500 && status >= 400)
    return new Interruption(`${host}, where the hub redirects, refuses ${asked.name} (${status})`);
  // the hub says so of what does not exist, too, unless a token proves that the caller may know
  if (
    status === 401 &&
    refusal.header("x-error-code") !== "GatedRepo" &&
    asked.name === "" &&
    !asked.hasToken
  )
    return failed(unknownMessage(asked));
  if (status === 401) return failed(loginMessage(asked, said(refusal)));
  if (status === 403) return failed(termsMessage(asked, said(refusal)));
  if (status === 404) return failed(missingMessage(asked, refusal));
  return failed(`${host} answered ${status} for ${asked.name || asked.repository}${said(refusal)}.`);
}

const pageOf = ({ endpoint, repository }: Asked) => `${endpoint}/${repository}`;

function loginMessage(asked: Asked, reason: string): string {
  if (asked.hasToken)
    return `${asked.repository} refuses the token (401${reason}). Set HF_TOKEN to a valid token (${asked.endpoint}/settings/tokens), or unset it.`;
  return `${asked.repository} requires a login (401${reason}). Log in at ${pageOf(asked)} and accept the model's terms, create a token at ${asked.endpoint}/settings/tokens, and pull again with the token in HF_TOKEN.`;
}

function unknownMessage({ endpoint, repository }: Asked): string {
  return `${endpoint} shows no model ${repository} without a login (401). Check the name; if the model is private, create a token at ${endpoint}/settings/tokens and pull again with the token in HF_TOKEN.`;
}

function termsMessage(asked: Asked, reason: string): string {
  const account = asked.hasToken ? "with the account of the current token" : "";
  const token = asked.hasToken
    ? "A fine-grained token needs the permission to read gated repositories."
    : `Then create a token at ${asked.endpoint}/settings/tokens and set HF_TOKEN to it.`;
  return (
    `${asked.repository} requires that you accept its terms (403${reason}). Accept them at ${pageOf(asked)} ${account}`.trimEnd() +
    `, and pull again. ${token}`
  );
}

function missingMessage(asked: Asked, { header }: Refusal): string {
  const { endpoint, repository, revision, name } = asked;
  switch (header("x-error-code")) {
    case "RepoNotFound":
      return `${endpoint} has no model ${repository} (404).`;
    case "RevisionNotFound":
      return `${repository} at ${endpoint} has no revision ${revision} (404).`;
    default:
      if (name === "") return `${endpoint} has no model ${repository} (404).`;
      return `${repository} at ${endpoint} has no file ${name} in revision ${revision} (404).`;
  }
}

/** The server's explanation, made printable and short. */
function said({ header }: Refusal): string {
  const text = header("x-error-message")
    ?.replaceAll(/[^\x20-\x7e]/g, " ")
    .trim()
    .slice(0, 200);
  return text ? `: ${text}` : "";
}

/** @see RFC 9110, 10.2.3 */
function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,6}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

const NEVER_BETTER: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name cannot be resolved; check the network connection and HF_ENDPOINT",
  ECONNREFUSED: "no server is listening there",
};

/**
 * The error for a connection that failed or was lost.
 *
 * @param isFirst whether nothing was received yet: then an unknown host is a mistake, not an interruption
 */
export function connectionError(error: unknown, host: string, isFirst: boolean): ServiceError | Interruption {
  const cause = rootOf(error);
  const code = codeOf(cause) ?? "";
  const text = cause instanceof Error ? cause.message : String(cause);
  const proxyStatus =
    /^Proxy response \((\d{3})\)/.exec(text)?.[1] ?? /Authentication Required \((407)\)/.exec(text)?.[1];
  if (proxyStatus === "407")
    return failed(
      "the proxy requires a user and a password: HTTPS_PROXY=http://user:password@proxy:3128.",
      error,
    );
  if (proxyStatus !== undefined)
    return new Interruption(`the proxy cannot reach ${host} (${proxyStatus})`, { cause: error });
  if (isUntrusted(code))
    return failed(
      `the certificate of ${host} is not trusted (${code}). Behind a proxy that terminates TLS, save its certificate to a file and set NODE_EXTRA_CA_CERTS to that file.`,
      error,
    );
  const advice = NEVER_BETTER[code];
  if (isFirst && advice !== undefined)
    return failed(`${host} cannot be reached (${code}): ${advice}.`, error);
  return new Interruption(`the connection to ${host} was lost (${code || text})`, { cause: error });
}

function isUntrusted(code: string): boolean {
  return /CERT|^ERR_TLS|^ERR_SSL|SIGNATURE|^EPROTO$/.test(code);
}

/** If several addresses of a host fail, Node reports one error that contains the others. */
function rootOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0]);
  if (error instanceof Error && codeOf(error) === undefined && error.cause !== undefined)
    return rootOf(error.cause);
  return error;
}

/** The error for a failed write. */
export function diskError(error: unknown, folder: string): ServiceError {
  const code = codeOf(error);
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return failed(
        `the disk of ${folder} is full (${code}). Downloaded data is kept: free some space and pull again.`,
        error,
      );
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return failed(`${folder} cannot be written (${code}). Set XDG_DATA_HOME to another folder.`, error);
    default:
      return failed(`${folder} cannot be written (${code ?? String(error)}).`, error);
  }
}
