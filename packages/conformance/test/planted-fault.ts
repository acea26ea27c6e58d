import type { Fault } from "./faulty-service.ts";

/** A fault, and the areas of clauses that may fail with it. */
export interface PlantedFault {
  readonly name: string;
  readonly fault: Fault;
  /** Clauses that must fail, at least one of each area that the fault breaks. Others may fail in these areas alone. */
  readonly breaks: readonly string[];
  /** The rule that it breaks, as the list of unobservable rules has it: then no check can fail, and `breaks` is empty. */
  readonly unobserved?: string;
  /** Whether the service has a key, which the checks get. */
  readonly hasKey?: boolean;
  /** Runs only these checks, if others might meet the fault by chance. */
  readonly only?: readonly string[];
}

type Settings = Omit<PlantedFault, "name" | "fault" | "breaks">;

export function plant(
  name: string,
  breaks: readonly string[],
  fault: Fault,
  settings: Settings = {},
): PlantedFault {
  return { name, breaks, fault, ...settings };
}

/** The area of a clause: the first part of its id, and for a dialect its second too. */
export function areaOf(id: string): string {
  return /^((typesafe|rerank|mcp)\.)?[^.]+/.exec(id)?.[0] ?? id;
}
