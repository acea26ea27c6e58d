import type { Effort } from "../effort.ts";
import type { Subject } from "./subject.ts";

/** Inputs of every engine measurement. */
export interface EngineRun {
  readonly subject: Subject;
  readonly effort: Effort;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** Reports the current measurement. */
  readonly progress: (text: string) => void;
}
