import type { Fault } from "./faulty-service.ts";

/** A fault, and the areas of clauses that may fail with it. */
export interface PlantedFault extends Settings {
  readonly name: string;
  readonly fault: Fault;
  /** Clauses that must fail, at least one of each area that the fault breaks. Others may fail in these areas alone. */
  readonly breaks: readonly string[];
}

interface Settings {
  /** The rule that it breaks, as the list of unobservable rules has it: then no check can fail, and `breaks` is empty. */
  readonly unobserved?: string;
  /** Whether the service has a key, which the checks get. */
  readonly hasKey?: boolean;
  /** Runs only these checks, if others might meet the fault by chance. */
  readonly only?: readonly string[];
}

/** Faults by what is wrong and the clauses that it breaks: `a ranking from the worst to the best: rank.order, rank.ranks`. */
type Table = Readonly<Record<string, Fault>>;

export function faults(table: Table, settings: Settings = {}): readonly PlantedFault[] {
  return Object.entries(table).map(([title, fault]) => {
    const end = settings.unobserved === undefined ? title.lastIndexOf(": ") : title.length;
    const breaks = title.slice(end + 2).split(", ");
    return { name: title.slice(0, end), fault, breaks: breaks.filter((id) => id !== ""), ...settings };
  });
}

/** The same for a service that has a key, which the checks get. */
export function keyedFaults(table: Table, settings: Settings = {}): readonly PlantedFault[] {
  return faults(table, { ...settings, hasKey: true });
}

/** Faults that are planted in one place. */
export const on = {
  request: (request: Required<Fault>["request"]): Fault => ({ request }),
  texts: (texts: Required<Fault>["texts"]): Fault => ({ texts }),
  scores: (scores: Required<Fault>["scores"]): Fault => ({ scores }),
  answer: (answer: Required<Fault>["answer"]): Fault => ({ answer }),
  reply: (reply: Required<Fault>["reply"]): Fault => ({ reply }),
  send: (send: Required<Fault>["send"]): Fault => ({ send }),
  early: (early: Required<Fault>["early"]): Fault => ({ early }),
};

/** The area of a clause: the first part of its id, and for a dialect its second too. */
export function areaOf(id: string): string {
  return /^((typesafe|rerank|mcp)\.)?[^.]+/.exec(id)?.[0] ?? id;
}
