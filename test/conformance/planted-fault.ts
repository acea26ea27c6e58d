import type { Fault } from "./faulty-service.ts";

/** A fault and the checks that it must make fail: these, and no others. */
export interface PlantedFault {
  readonly name: string;
  readonly fault: Fault;
  /** Ids of the checks. */
  readonly fails: readonly string[];
  /** The rule that it breaks, as the list of unobservable rules has it: then no check can fail, and `fails` is empty. */
  readonly unobserved?: string;
  /** The service has a key, and the checks are given it. */
  readonly hasKey?: boolean;
  /** Only these checks, where others would meet the fault by chance. */
  readonly only?: readonly string[];
}
