/** The server under test, as far as its user describes it. */
export interface Target {
  /** Its path stands before the path of every request. */
  readonly base: URL;
  readonly apiKey: string | undefined;
  /** Until an answer is complete. */
  readonly timeoutMs: number;
}

/** Something that the caller of the tool gave wrongly. */
export class WrongUsage extends Error {
  override readonly name = "WrongUsage";
}

/** Longest time that a timer of Node can wait. */
const MOST_MS = 2 ** 31 - 1;

/** @throws WrongUsage */
export function readTarget(baseUrl: string, apiKey: string | undefined, timeoutMs: number): Target {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol))
    throw new WrongUsage(
      `the base address must look like http://127.0.0.1:8700, not ${JSON.stringify(baseUrl)}`,
    );
  if (base.search !== "" || base.hash !== "" || base.username !== "" || base.password !== "")
    throw new WrongUsage(
      "the base address must have no query, no fragment and no credentials (use --api-key)",
    );
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new WrongUsage(
      "the key must be visible ASCII characters without spaces: no header can carry another",
    );
  if (!(timeoutMs > 0 && timeoutMs <= MOST_MS)) throw new WrongUsage("the timeout must be above 0 seconds");
  return { base, apiKey, timeoutMs };
}

/** Absolute address of a path, which is taken as it is: dots and escapes stay. */
export function urlOf({ base }: Pick<Target, "base">, path: string): string {
  return `${base.origin}${pathOf({ base }, path)}`;
}

/** What goes into the request line. */
export function pathOf(target: Pick<Target, "base">, path: string): string {
  return `${prefixOf(target)}${path}`;
}

/** The path that an address of this server has below the base; undefined for any other address. */
export function pathBelow(target: Pick<Target, "base">, { origin, pathname }: URL): string | undefined {
  const prefix = prefixOf(target);
  const isOwn = origin === target.base.origin && pathname.startsWith(`${prefix}/`);
  return isOwn ? pathname.slice(prefix.length) : undefined;
}

/** The path of a request to this server, as it was sent; its query is left off. */
export function sentPath(target: Pick<Target, "base">, url: string): string {
  const path = url.slice(urlOf(target, "").length);
  return path.split("?", 1)[0] ?? "";
}

function prefixOf({ base }: Pick<Target, "base">): string {
  return base.pathname.replace(/\/+$/, "");
}

/** What a socket connects to: of an IPv6 address without its brackets. */
export function hostOf({ base }: Target): string {
  return base.hostname.replace(/^\[|\]$/g, "");
}

/** What is said of an answer that has not come in time. */
export function lateness({ timeoutMs }: Pick<Target, "timeoutMs">): string {
  return `no whole answer within ${timeoutMs / 1000} s (--timeout allows more)`;
}
