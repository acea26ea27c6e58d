import type { seededRandom } from "../../../test/support/seeded-random.ts";
import type { Step } from "./exchange.ts";

export type Random = ReturnType<typeof seededRandom>;

/** A request of a case, as far as it is known what it is. */
export interface Asked {
  readonly method?: string;
  readonly target?: string;
  /** Those that an answer may have; undefined: any that the contract declares. */
  readonly statuses?: readonly number[];
  /** What the answer's x-request-id must be. */
  readonly requestId?: string;
}

export interface HostileCase {
  readonly family: string;
  readonly steps: readonly Step[];
  readonly requests: readonly Asked[];
  /** How many final answers come, at least and at most. */
  readonly answers: readonly [number, number];
  /** The client leaves: an answer may be cut. */
  readonly mayBreakOff?: boolean;
  /** It waits for a time-out of the service. */
  readonly isSlow?: boolean;
}

export type Family = (random: Random) => HostileCase;

/** One of them. */
export function pick<Value>({ below }: Random, values: readonly Value[]): Value {
  const value = values[below(values.length)];
  if (value === undefined) throw new RangeError("nothing to pick from");
  return value;
}

/** A POST with a body of known length. */
export function post(
  target: string,
  body: string | Uint8Array,
  lines: readonly string[] = JSON_LINES,
): Step[] {
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
  return [`${head("POST", target, [...lines, `Content-Length: ${bytes.length}`])}`, bytes];
}

export const JSON_LINES: readonly string[] = ["Content-Type: application/json"];

export function head(method: string, target: string, lines: readonly string[] = []): string {
  return `${method} ${target} HTTP/1.1\r\nHost: x\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
}

/** A request that is answered with 200, small enough that thousands are. */
export const SMALL = JSON.stringify({
  state: "late",
  questions: { q: { type: "noul", instructions: "Late?" } },
});
export const SMALL_RANK = JSON.stringify({ state: "late", candidates: ["a", "b"] });
