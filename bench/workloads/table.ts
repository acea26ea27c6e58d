import { CANDIDATES, MEDIUM, QUESTIONS, SHORT } from "./fixed-sizes.ts";
import { MOST_BYTES, MOST_PAIRS, MOST_TOKENS, TOO_MANY_TOKENS } from "./limits.ts";
import { MIXED, REPEATED } from "./traffic.ts";
import type { Workload } from "./workload.ts";

/** Every generated workload. */
export const WORKLOADS: readonly Workload[] = [
  SHORT,
  MEDIUM,
  CANDIDATES,
  QUESTIONS,
  MIXED,
  REPEATED,
  MOST_PAIRS,
  MOST_TOKENS,
  MOST_BYTES,
  TOO_MANY_TOKENS,
];
