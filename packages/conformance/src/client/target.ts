/** The server under test, as given by the user. */
export interface Target {
  /** Base URL. Its path is a prefix of every request's path. */
  readonly base: URL;
  readonly apiKey: string | undefined;
  /** Timeout until an answer is complete. */
  readonly timeoutMs: number;
}

/** An invalid option of the caller. */
export class WrongUsage extends Error {
  override readonly name = "WrongUsage";
}

/** The longest delay of a Node timer. */
const MOST_MS = 2 ** 31 - 1;

/** @throws WrongUsage */
export function readTarget(baseUrl: string, apiKey: string | undefined, timeoutMs: number): Target {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (base !== undefined && /^https?\+unix:$/.test(base.protocol))
    throw new WrongUsage("the checks need a server on a port, not on a Unix socket: start it with --port");
  if (base === undefined || !/^https?:$/.test(base.protocol))
    throw new WrongUsage(
      `the base URL: expected an address like http://127.0.0.1:8700, got ${JSON.stringify(baseUrl)}`,
    );
  if (base.search !== "" || base.hash !== "" || base.username !== "" || base.password !== "")
    throw new WrongUsage(
      "the base URL must have no query, no fragment and no credentials (use DECISION_API_KEY)",
    );
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new WrongUsage(
      "the key must consist of visible ASCII characters without spaces, because it is sent in a header",
    );
  if (!(timeoutMs > 0 && timeoutMs <= MOST_MS)) throw new WrongUsage("the timeout must be above 0 seconds");
  return { base, apiKey, timeoutMs };
}

/** The absolute URL of a path. Dot segments and escapes in it are kept. */
export function urlOf({ base }: Pick<Target, "base">, path: string): string {
  return `${base.origin}${pathOf({ base }, path)}`;
}

/** The target of the request line. */
export function pathOf(target: Pick<Target, "base">, path: string): string {
  return `${prefixOf(target)}${path}`;
}

/** The path of a URL below the base; undefined for other servers or paths. */
export function pathBelow(target: Pick<Target, "base">, { origin, pathname }: URL): string | undefined {
  const prefix = prefixOf(target);
  const isOwn = origin === target.base.origin && pathname.startsWith(`${prefix}/`);
  return isOwn ? pathname.slice(prefix.length) : undefined;
}

/** The path of a sent request below the base, without its query. */
export function sentPath(target: Pick<Target, "base">, url: string): string {
  const path = url.slice(urlOf(target, "").length);
  return path.split("?", 1)[0] ?? "";
}

function prefixOf({ base }: Pick<Target, "base">): string {
  return base.pathname.replace(/\/+$/, "");
}

/** The host to connect to; an IPv6 address without brackets. */
export function hostOf({ base }: Target): string {
  return base.hostname.replace(/^\[|\]$/g, "");
}

/** The message for a timeout. */
export function lateness({ timeoutMs }: Pick<Target, "timeoutMs">): string {
  return `no complete answer within ${timeoutMs / 1000} s (--timeout allows more)`;
}
