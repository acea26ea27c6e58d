import type { ServerReport } from "../http/bench-http.ts";
import type { LevelReport } from "../http/load.ts";
import { NO_ANSWER, NOT_SENT, type OutcomeCounts, sumOfFailures } from "../measure/outcomes.ts";
import type { Report } from "./report.ts";

type Failures = OutcomeCounts["failures"];

/**
 * Failures that make a run fail, by reason: all failures of the closed loop, and those of the open loop that overload
 * does not explain. Refusals are no failures. Beyond the maximum throughput, late answers are no failures either.
 */
export function failuresOf({ http, memory }: Report): Failures {
  const ofServers = http?.servers.flatMap(failuresOfServer) ?? [];
  const ofLimits = http?.limits.map(({ level }) => level.failures) ?? [];
  return sumOfFailures([...ofServers, ...ofLimits, ...(memory ? [memory.failures] : [])]);
}

/** One line with all reasons; undefined if nothing failed. */
export function failuresText(failures: Failures): string | undefined {
  const reasons = Object.entries(failures);
  if (reasons.length === 0) return undefined;
  const count = reasons.reduce((sum, [, number]) => sum + number, 0);
  const list = reasons.map(([reason, number]) => `${number} x ${reason}`).join("; ");
  return `${count} requests failed and do not count in rates and latencies: ${list}.`;
}

function failuresOfServer({ closed, open, saturation }: ServerReport): readonly Failures[] {
  const isOverloaded = ({ offered }: LevelReport) => (offered ?? 0) > saturation;
  return [
    ...closed.map(({ failures }) => failures),
    ...open.map((level) => (isOverloaded(level) ? withoutWaiting(level.failures) : level.failures)),
  ];
}

function withoutWaiting(failures: Failures): Failures {
  return Object.fromEntries(
    Object.entries(failures).filter(([reason]) => reason !== NO_ANSWER && reason !== NOT_SENT),
  );
}
