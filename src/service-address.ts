import { pathToFileURL } from "node:url";
import { codeOf, invalidOption } from "./errors.ts";

/** Where a service listens. */
export interface ServiceAddress {
  /** For messages; without a slash at its end. */
  readonly name: string;
  /** Scheme, host and port of requests. */
  readonly origin: string;
  /** Path before those of the requests, without a slash at its end. */
  readonly prefix: string;
  readonly socketPath?: string;
}

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/**
 * Reads an http or https URL, or one that {@link socketUrl} makes.
 *
 * @param what names it in the message for another one
 * @throws ServiceError INVALID_OPTION
 */
export function serviceAddress(given: string, what = "the URL of a service"): ServiceAddress {
  const address = parsed(given);
  if (address !== undefined) return address;
  const shown = JSON.stringify(given.replace(/.*@|[?#].*/gs, "...")); // without secrets
  throw invalidOption(
    `${what}: expected an address like http://127.0.0.1:8700 or http+unix:///run/decision.sock, without user, query and fragment, got ${shown}.`,
  );
}

function parsed(text: string): ServiceAddress | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = /^(https?)(?:\+unix)?:$/.exec(url?.protocol ?? "")?.[1];
  if (url === undefined || scheme === undefined) return undefined;
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return undefined;
  const path = url.pathname.replace(/\/+$/, "");
  if (url.protocol === `${scheme}:`) return { name: url.origin + path, origin: url.origin, prefix: path };
  const socketPath = decoded(path);
  if (url.host !== "" || !socketPath) return undefined;
  return { name: `${url.protocol}//${path}`, origin: `${scheme}://localhost`, prefix: "", socketPath };
}

/** The address of a service that listens on a Unix socket. */
export function socketUrl(scheme: "http" | "https", socketPath: string): string {
  return `${scheme}+unix://${pathToFileURL(socketPath).pathname}`;
}

/** Sends requests to a service, and never to another host, as a redirect would. */
export function serviceFetch({ origin, prefix, socketPath }: ServiceAddress) {
  const base = origin + prefix;
  if (socketPath === undefined)
    return (path: string, sent: Sent) => fetch(base + path, { ...sent, redirect: "error" });
  // imported here, because it takes time and few use it
  const loaded = import("undici").then(({ Agent, fetch }) => ({
    fetch,
    dispatcher: new Agent({ connect: { socketPath } }),
  }));
  return async (path: string, sent: Sent) => {
    const { fetch, dispatcher } = await loaded;
    return fetch(base + path, { ...sent, redirect: "error", dispatcher });
  };
}

/** The system's reason why a request got no answer: fetch itself reports only "fetch failed". */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  const code = codeOf(cause) ?? "";
  const reason = cause.message || code;
  if (!UNKNOWN_ISSUER.test(code)) return reason;
  return `${reason}. If its certificate is your own, set NODE_EXTRA_CA_CERTS to a file with the authority's certificate`;
}

const UNKNOWN_ISSUER = /SELF_SIGNED_CERT|^UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|^CERT_UNTRUSTED$/;

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
