/** The server under test, as given by the user. */
export interface Target {
  /** Base URL. Its path is a prefix of every request's path. */
  readonly base: URL;
  /** The Unix socket that it listens on, if it is no port. */
  readonly socketPath?: string | undefined;
  /** Its address, for reports. */
  readonly name: string;
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
  const given = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isSocket = given?.protocol === "http+unix:" && given.host === "" && given.pathname !== "";
  if (given === undefined || !(isSocket || /^https?:$/.test(given.protocol)))
    throw new WrongUsage(
      `the base URL: expected an address like http://127.0.0.1:8700 or http+unix:///run/decision.sock, got ${JSON.stringify(baseUrl)}`,
    );
  const socketPath = isSocket ? decodeURI(given.pathname) : undefined;
  const base = isSocket ? new URL(`http://localhost/${given.search}${given.hash}`) : given;
  if (base.search !== "" || base.hash !== "" || base.username !== "" || base.password !== "")
    throw new WrongUsage(
      "the base URL must have no query, no fragment and no credentials (use DECISION_API_KEY)",
    );
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new WrongUsage(
      "the key must consist of visible ASCII characters without spaces, because it is sent in a header",
    );
  if (!(timeoutMs > 0 && timeoutMs <= MOST_MS)) throw new WrongUsage("the timeout must be above 0 seconds");
  return { base, socketPath, name: given.href, apiKey, timeoutMs: Math.ceil(timeoutMs) };
}

/** The target of the request line. Dot segments and escapes in it are kept. */
export function pathOf(target: Pick<Target, "base">, path: string): string {
  return `${prefixOf(target)}${path}`;
}

/** The path of a URL below the base; undefined for other servers or paths. */
export function pathBelow(target: Pick<Target, "base">, { origin, pathname }: URL): string | undefined {
  const prefix = prefixOf(target);
  const isOwn = origin === target.base.origin && pathname.startsWith(`${prefix}/`);
  return isOwn ? pathname.slice(prefix.length) : undefined;
}

function prefixOf({ base }: Pick<Target, "base">): string {
  return base.pathname.replace(/\/+$/, "");
}

/** The host and port to connect to; an IPv6 address without brackets. */
export function endpointOf({ base }: Target) {
  const port = Number(base.port || (base.protocol === "https:" ? 443 : 80));
  return { host: base.hostname.replace(/^\[|\]$/g, ""), port };
}

/** The message for a timeout. */
export function lateness({ timeoutMs }: Pick<Target, "timeoutMs">): string {
  return `no complete answer within ${timeoutMs / 1000} s (--timeout allows more)`;
}
