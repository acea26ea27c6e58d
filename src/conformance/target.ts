/** The server under test, as far as its user describes it. */
export interface Target {
  /** Without a slash at its end. */
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
export function urlOf({ base }: Target, path: string): string {
  return `${base.origin}${pathOf({ base }, path)}`;
}

/** What goes into the request line. */
export function pathOf({ base }: Pick<Target, "base">, path: string): string {
  return `${base.pathname.replace(/\/+$/, "")}${path}`;
}
