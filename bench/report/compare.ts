import { ServiceError } from "../../src/errors.ts";
import type { Measurement } from "../measure/measurement.ts";
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
 * chance. If nothing has changed, all orders of the rounds are equally likely, so the rounds of a figure separate with
 * probability 2 / binomial(n + m, n); see `verdictsOf` for the bound. Numbers other than ratios within one run depend
 * on the machine, and are not marked if the machines differ. A machine that was busy during one whole run is not part
 * of the noise: repeat the measurement before you trust a mark.
 */
export function compareReports(old: Report, now: Report): readonly Comparison[] {
  const before = new Map(measurementsOf(old).map((figure) => [figure.name, figure]));
  const pairs = measurementsOf(now).flatMap((figure) => {
    const other = before.get(figure.name);
    return other ? [{ old: other, now: figure }] : [];
  });
  const isSameMachine = machineOf(old) === machineOf(now);
  const comparable = pairs.filter(({ now: { unit } }) => isSameMachine || unit === "x" || unit === "%");
  const verdicts = verdictsOf(comparable);
  return pairs.map((pair): Comparison => {
    const { name, title, unit, value } = pair.now;
    const verdict = verdicts.get(pair) ?? "another machine";
    return { name, title, unit, old: pair.old.value, new: value, ratio: value / pair.old.value, verdict };
  });
}

/** A figure in both runs. */
export interface FigurePair {
  readonly old: Measurement;
  readonly now: Measurement;
}

/**
 * Marks the figures that differ. If nothing has changed, the probability of any mark is at most 5 %.
 *
 * Uses Holm's procedure with Tarone's correction: a figure is marked if the probability that its rounds separate by
 * chance is below 5 % divided by the number of figures that could be marked. After each mark, that number is computed
 * again for the remaining figures. Figures with too few rounds to be marked do not count.
 *
 * @see Holm 1979, A simple sequentially rejective multiple test procedure
 * @see Tarone 1990, A modified Bonferroni method for discrete data
 */
export function verdictsOf<Pair extends FigurePair>(pairs: readonly Pair[]): ReadonlyMap<Pair, Verdict> {
  const verdicts = new Map<Pair, Verdict>();
  let left = pairs.map((pair) => ({ pair, ...separationOf(pair) }));
  for (let bound = boundFor(left); ; bound = boundFor(left)) {
    const told = left.filter(({ chance, side }) => side !== undefined && chance <= bound);
    for (const { pair, side } of told) verdicts.set(pair, side === pair.now.better ? "better" : "worse");
    if (told.length === 0) {
      for (const { pair, chance } of left)
        verdicts.set(pair, chance > bound ? "too few rounds" : "within noise");
      return verdicts;
    }
    left = left.filter(({ pair }) => !verdicts.has(pair));
  }
}

/** The largest probability threshold that keeps the bound. */
function boundFor(figures: readonly { readonly chance: number }[]): number {
  let count = 1;
  while (figures.filter(({ chance }) => chance <= MOST_CHANCE / count).length > count) count += 1;
  return MOST_CHANCE / count;
}

/** The side of the old rounds on which all new rounds lie, if any, and the probability of this by chance. */
function separationOf({ old, now }: FigurePair): {
  readonly chance: number;
  readonly side: "higher" | "lower" | undefined;
} {
  // a round without a correct answer has no median (null in JSON)
  const [before, after] = [old.rounds.filter(Number.isFinite), now.rounds.filter(Number.isFinite)];
  const chance = chanceOfSeparation(before.length, after.length);
  if (Math.min(...after) > Math.max(...before)) return { chance, side: "higher" };
  if (Math.max(...after) < Math.min(...before)) return { chance, side: "lower" };
  return { chance, side: undefined };
}

/** Probability that n and m values in random order separate. */
export function chanceOfSeparation(n: number, m: number): number {
  let orders = 1;
  for (let i = 1; i <= n; i++) orders = (orders * (m + i)) / i;
  return n === 0 || m === 0 ? 1 : 2 / orders;
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
