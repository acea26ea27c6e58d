import type { Fault } from "./faulty-service.ts";

/** A fault and the checks that must fail with it; all others must pass. */
export interface PlantedFault {
  readonly name: string;
  readonly fault: Fault;
  /** Ids of the checks. */
  readonly fails: readonly string[];
  /**
   * The rule that it breaks, as the list of unobservable rules has it: then no check can fail, and `fails` is empty.
   */
  readonly unobserved?: string;
  /** Whether the service has a key, which the checks get. */
  readonly hasKey?: boolean;
  /** Runs only these checks, if others might meet the fault by chance. */
  readonly only?: readonly string[];
}
