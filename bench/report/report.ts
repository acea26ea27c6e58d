import type { HttpReport, ServerReport } from "../http/bench-http.ts";
import type { MemoryReport } from "../http/memory.ts";
import type { Measurement } from "../measure/statistics.ts";
import { type Failures, NO_ANSWER, NOT_SENT, sumOfFailures, TOO_LONG } from "../measure/tally.ts";
import type { Machine, Versions } from "./machine.ts";

/** The results of a run, as `--json` prints them. */
export interface Report {
  readonly format: "typed-decisions-bench-v1";
  /** ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly options: {
    readonly effort: "quick" | "full";
    readonly parts: readonly string[];
    readonly seconds: number | null;
    readonly count: number | null;
    readonly rate: number | null;
    readonly workload: string | null;
    readonly requests: string | null;
    readonly url: string | null;
    readonly against: string | null;
    /** Options of the service that differ from their defaults. */
    readonly service: Readonly<Record<string, unknown>>;
  };
  readonly seed: number;
  readonly machine: Machine;
  readonly versions: Versions;
  /** Commit of the checkout, followed by "+" if files have changed; null for an installed package. */
  readonly commit: string | null;
  /** The local model; null if only other servers were measured. */
  readonly model: { readonly id: string; readonly weightsSha256: string | null } | null;
  readonly http: HttpReport | null;
  readonly memory: MemoryReport | null;
}

/** All numbers of a report that can be compared. */
export function measurementsOf({ http, memory }: Report): readonly Measurement[] {
  const levels = http?.servers.flatMap(({ closed, open }) => [...closed, ...open]) ?? [];
  return [
    ...levels.flatMap(({ throughput, typical }) => [throughput, typical]),
    ...(http?.limits.map(({ level }) => level.typical) ?? []),
    ...(http?.against ?? []),
    ...(memory?.measurements ?? []),
  ];
}

/**
 * Failures that make a run fail, by reason: all failures of the closed loop, and those of the open loop that overload
 * does not explain. Beyond the maximum throughput, late answers are no failures. Refusals are none either.
 */
export function failuresOf({ http, memory }: Report): Failures {
  return sumOfFailures([
    ...(http?.servers.flatMap(failuresOfServer) ?? []),
    ...(http?.limits.map(({ level }) => without(level.failures, [TOO_LONG])) ?? []),
    ...(memory ? [without(memory.failures, [TOO_LONG])] : []),
  ]);
}

function failuresOfServer({ closed, open, saturation }: ServerReport): readonly Failures[] {
  return [...closed, ...open].map(({ offered, failures }) => {
    const isOverloaded = (offered ?? 0) > saturation;
    return without(failures, isOverloaded ? [TOO_LONG, NO_ANSWER, NOT_SENT] : [TOO_LONG]);
  });
}

function without(failures: Failures, reasons: readonly string[]): Failures {
  return Object.fromEntries(Object.entries(failures).filter(([reason]) => !reasons.includes(reason)));
}
