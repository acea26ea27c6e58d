import type { HttpReport } from "../http/bench-http.ts";
import type { MemoryReport } from "../http/memory.ts";
import type { Measurement } from "../measure/measurement.ts";
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
  /** Requested measurements that were not possible, one line each. */
  readonly notes: readonly string[];
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
