import type { Measurement } from "../measure/measurement.ts";
import { measurementsOf, type Report } from "./report.ts";

export type Verdict = "better" | "worse" | "within noise" | "too few rounds" | "another machine";

export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly unit: Measurement["unit"];
  readonly old: number;
  readonly new: number;
  /** New over old. */
  readonly ratio: number;
  readonly verdict: Verdict;
}

/** The chance that two runs of the same thing are told apart: no more than that. */
const MOST_CHANCE = 0.05;

/**
 * Compares what both runs measured.
 *
 * A difference is marked when every round of one run lies beyond every round of the other. If nothing has changed, any
 * order of the rounds is as likely as any other, so that happens with chance 2 / binomial(n + m, n); with so few rounds
 * that this is above 5 %, nothing is marked. Numbers other than ratios of one run depend on the machine, and are not
 * marked where it is another one. What neither run could see, such as a machine that was busy all through one of them,
 * is in no run's noise: measure again before you believe a mark.
 */
export function compareReports(old: Report, now: Report): readonly Comparison[] {
  const before = new Map(measurementsOf(old).map((figure) => [figure.name, figure]));
  const isSameMachine = machineOf(old) === machineOf(now);
  return measurementsOf(now).flatMap((figure) => {
    const other = before.get(figure.name);
    if (!other) return [];
    const { name, title, unit, value } = figure;
    const isComparable = isSameMachine || unit === "x" || unit === "%";
    const verdict = isComparable ? judge(other, figure) : "another machine";
    return [{ name, title, unit, old: other.value, new: value, ratio: value / other.value, verdict }];
  });
}

export function judge(old: Measurement, now: Measurement): Verdict {
  if (chanceOfSeparation(old.rounds.length, now.rounds.length) > MOST_CHANCE) return "too few rounds";
  const isHigher = Math.min(...now.rounds) > Math.max(...old.rounds);
  const isLower = Math.max(...now.rounds) < Math.min(...old.rounds);
  if (!isHigher && !isLower) return "within noise";
  return isHigher === (now.better === "higher") ? "better" : "worse";
}

/** That n and m values in random order lie apart, the ones wholly above the others or below. */
export function chanceOfSeparation(n: number, m: number): number {
  let orders = 1;
  for (let i = 1; i <= n; i++) orders = (orders * (m + i)) / i;
  return n === 0 || m === 0 ? 1 : 2 / orders;
}

function machineOf({ machine }: Report): string {
  return `${machine.cpu} ${machine.usableProcessors} ${machine.flags.join()}`;
}

/** What must be equal for a comparison to mean anything beside the code: said on stderr where it is not. */
export function differencesInSetting(old: Report, now: Report): readonly string[] {
  const setting = (report: Report): Record<string, unknown> => ({
    seed: report.seed,
    effort: report.options.effort,
    seconds: report.options.seconds,
    count: report.options.count,
    workload: report.http?.workload.title,
    "service options": report.options.service,
    model: report.model?.id,
    machine: machineOf(report),
  });
  const before = setting(old);
  return Object.entries(setting(now))
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]))
    .map(([name]) => name);
}
