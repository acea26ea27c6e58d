import type { ServiceOptions } from "../src/options/table.ts";

/** Parts of `decision bench`. */
export const PARTS = ["http", "memory"] as const;
export type Part = (typeof PARTS)[number];

/** Options of a run, with defaults filled in. */
export interface BenchOptions {
  /** Options of the service that is started. */
  readonly service: ServiceOptions;
  readonly parts: readonly Part[];
  readonly isFull: boolean;
  readonly seed: number;
  /** Bounds of each measurement, if smaller than those of the effort. */
  readonly seconds?: number | undefined;
  readonly count?: number | undefined;
  /** Name of a generated workload for HTTP. */
  readonly workload?: string | undefined;
  /** A file of requests instead of a generated workload. */
  readonly requests?: string | undefined;
  /** Running servers: HTTP part only. */
  readonly url?: string | undefined;
  readonly against?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Rate of the open loop, in requests per second. */
  readonly rate?: number | undefined;
}
