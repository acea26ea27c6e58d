import type { ServiceOptions } from "../src/options/table.ts";

/** What `decision bench` measures. */
export const PARTS = ["engine", "http", "memory"] as const;
export type Part = (typeof PARTS)[number];

/** What the caller wants; complete. */
export interface BenchOptions {
  /** Options of the engine and of the service that is started for the HTTP part. */
  readonly service: ServiceOptions;
  readonly parts: readonly Part[];
  readonly isFull: boolean;
  readonly seed: number;
  /** Bounds of each measurement, below those of the effort. */
  readonly seconds?: number | undefined;
  readonly count?: number | undefined;
  readonly isProfiled: boolean;
  /** Name of a generated workload for HTTP. */
  readonly workload?: string | undefined;
  /** A file of requests, in place of a generated workload. */
  readonly requests?: string | undefined;
  /** Servers that run already: HTTP only. */
  readonly url?: string | undefined;
  readonly against?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Requests a second of the open loop. */
  readonly rate?: number | undefined;
}
