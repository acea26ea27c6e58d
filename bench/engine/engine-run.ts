import type { Effort } from "../effort.ts";
import type { Subject } from "./subject.ts";

/** What every measurement of the engine is given. */
export interface EngineRun {
  readonly subject: Subject;
  readonly effort: Effort;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** Says what is measured now. */
  readonly progress: (text: string) => void;
}
