import type { EngineReport } from "../engine/bench-engine.ts";
import type { Machine, Versions } from "./machine.ts";

/** Everything that a run found, as `--json` prints it. */
export interface Report {
  readonly format: "typed-decisions-bench-v1";
  readonly startedAt: string;
  readonly seconds: number;
  readonly options: {
    readonly effort: "quick" | "full";
    readonly parts: readonly string[];
    readonly seconds: number | null;
    readonly count: number | null;
    /** Options of the service that differ from their defaults. */
    readonly service: Readonly<Record<string, unknown>>;
  };
  readonly seed: number;
  readonly machine: Machine;
  readonly versions: Versions;
  /** Of the checkout; null for an installed package. */
  readonly commit: string | null;
  readonly model: { readonly id: string; readonly weightsSha256: string | null } | null;
  readonly engine: EngineReport | null;
}
