import type { seededRandom } from "../../test/support/seeded-random.ts";
import type { Step } from "./exchange.ts";

export type Random = ReturnType<typeof seededRandom>;

/** What is known about a request of a case. */
export interface Asked {
  readonly method?: string;
  readonly target?: string;
  /** Allowed statuses; undefined: all that the contract declares. */
  readonly statuses?: readonly number[];
  /** The expected x-request-id of the answer. */
  readonly requestId?: string;
}

export interface HostileCase {
  readonly family: string;
  readonly steps: readonly Step[];
  readonly requests: readonly Asked[];
  /** Minimum and maximum number of final answers. */
  readonly answers: readonly [number, number];
  /** Whether the client disconnects, so that an answer may be incomplete. */
  readonly mayBreakOff?: boolean;
  /** Whether it waits for a timeout of the service. */
  readonly isSlow?: boolean;
}

export type Family = (random: Random) => HostileCase;

/** A random element. */
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
  return `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
}

/** A valid request, small enough to be sent thousands of times. */
export const SMALL = JSON.stringify({
  state: "late",
  questions: { q: { type: "noul", instructions: "Late?" } },
});
export const SMALL_RANK = JSON.stringify({ state: "late", candidates: ["a", "b"] });
