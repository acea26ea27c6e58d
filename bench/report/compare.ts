import { ServiceError } from "../../src/errors.ts";
import type { Measurement } from "../measure/statistics.ts";
import { measurementsOf, type Report } from "./report.ts";

export type Verdict = "better" | "worse" | "within noise" | "too few rounds" | "another machine";

export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly unit: Measurement["unit"];
  readonly old: number;
  readonly new: number;
  /** Ratio of new to old. */
  readonly ratio: number;
  readonly verdict: Verdict;
}

/** Maximum probability that any figure is marked although nothing has changed. */
const MOST_CHANCE = 0.05;

/**
 * Compares two runs.
 *
 * A figure is marked if all rounds of one run lie beyond all rounds of the other, and this is improbable enough by
 * chance: if nothing has changed, the probability of any mark is at most 5 %. Then all orders of the rounds are equally
 * likely, so the rounds of a figure separate with probability 2 / binomial(n + m, n). Numbers other than ratios within
 * one run depend on the machine, and are not marked if the machines differ. A machine that was busy during one whole
 * run is not part of the noise: repeat the measurement before you trust a mark.
 */
export function compareReports(old: Report, now: Report): readonly Comparison[] {
  const before = new Map(measurementsOf(old).map((figure) => [figure.name, figure]));
  const pairs = measurementsOf(now).flatMap((figure) => {
    const other = before.get(figure.name);
    return other ? [{ old: other, now: figure }] : [];
  });
  const isSameMachine = machineOf(old) === machineOf(now);
  const isComparable = ({ now: { unit } }: FigurePair) => isSameMachine || unit === "x" || unit === "%";
  // Bonferroni's correction, over the figures that can be marked at all
  const able = pairs.filter((pair) => isComparable(pair) && chanceOf(pair) <= MOST_CHANCE);
  const most = MOST_CHANCE / Math.max(1, able.length);
  return pairs.map((pair): Comparison => {
    const { name, title, unit, value } = pair.now;
    const verdict = isComparable(pair) ? verdictOf(pair, most) : "another machine";
    return { name, title, unit, old: pair.old.value, new: value, ratio: value / pair.old.value, verdict };
  });
}

/** A figure in both runs. */
interface FigurePair {
  readonly old: Measurement;
  readonly now: Measurement;
}

/** A round without a correct answer has no median (null in JSON). */
const finite = ({ rounds }: Measurement) => rounds.filter(Number.isFinite);

/** Probability that the rounds of both runs separate although nothing has changed. */
function chanceOf({ old, now }: FigurePair): number {
  const [n, m] = [finite(old).length, finite(now).length];
  let orders = 1;
  for (let i = 1; i <= n; i++) orders = (orders * (m + i)) / i;
  return n === 0 || m === 0 ? 1 : 2 / orders;
}

function verdictOf(pair: FigurePair, mostChance: number): Verdict {
  if (!(chanceOf(pair) <= mostChance)) return "too few rounds";
  const [before, after] = [finite(pair.old), finite(pair.now)];
  const isHigher = Math.min(...after) > Math.max(...before);
  const isLower = Math.max(...after) < Math.min(...before);
  if (!isHigher && !isLower) return "within noise";
  return isHigher === (pair.now.better === "higher") ? "better" : "worse";
}

function machineOf({ machine }: Report): string {
  return `${machine.cpu} ${machine.usableProcessors} ${machine.flags.join()}`;
}

/**
 * Refuses to compare a quick with a full run, which measure different amounts of work.
 *
 * @param file file of the earlier run
 * @throws ServiceError INVALID_OPTION if the efforts differ
 */
export function checkSameEffort(old: Report, isFull: boolean, file: string): void {
  const { effort } = old.options;
  const wanted = isFull ? "full" : "quick";
  if (effort === wanted) return;
  const change = isFull
    ? "leave out --full, or compare with a full run"
    : "add --full, or compare with a quick run";
  throw new ServiceError(
    "INVALID_OPTION",
    `--compare ${file} is a ${effort} run and cannot be compared with a ${wanted} run: ${change}.`,
  );
}

/** Settings that must be equal for a meaningful comparison. Differences are reported on stderr. */
export function differencesInSetting(old: Report, now: Report): readonly string[] {
  const setting = (report: Report): Record<string, unknown> => ({
    seed: report.seed,
    seconds: report.options.seconds,
    count: report.options.count,
    rate: report.options.rate,
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
