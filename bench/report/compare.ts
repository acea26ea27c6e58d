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
  /** New over old. */
  readonly ratio: number;
  readonly verdict: Verdict;
}

/** The chance that of all figures of two runs of the same thing any is marked: no more than that. */
const MOST_CHANCE = 0.05;

/**
 * Compares what both runs measured.
 *
 * A difference is marked when every round of one run lies beyond every round of the other, and that happens by chance too rarely
 * for so many figures. If nothing has changed, any order of the rounds is as likely as any other, so a figure's rounds lie
 * apart with chance 2 / binomial(n + m, n); see `verdictsOf` for the bound. Numbers other than ratios of one run depend on the
 * machine, and are not marked where it is another one. What neither run could see, such as a machine that was busy all through
 * one of them, is in no run's noise: measure again before you believe a mark.
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
 * Marks the figures that differ, none of them by chance in all but 5 % of the runs that measure the same thing twice.
 *
 * Holm's steps with Tarone's count: a figure is marked where the chance of its rounds lying apart is 5 % over the number of
 * figures that could be marked at all, and after each mark that number is taken anew from those that are left. A figure of so
 * few rounds that it could not be marked anyway thus makes it no harder for the others.
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

/** The largest chance of which no more figures stay below than it allows. */
function boundFor(figures: readonly { readonly chance: number }[]): number {
  let count = 1;
  while (figures.filter(({ chance }) => chance <= MOST_CHANCE / count).length > count) count += 1;
  return MOST_CHANCE / count;
}

/** On which side of the old rounds all new ones lie, if on one, and how likely that is when nothing has changed. */
function separationOf({ old, now }: FigurePair): {
  readonly chance: number;
  readonly side: "higher" | "lower" | undefined;
} {
  // a round without a right answer has no median, which JSON writes as null
  const [before, after] = [old.rounds.filter(Number.isFinite), now.rounds.filter(Number.isFinite)];
  const chance = chanceOfSeparation(before.length, after.length);
  if (Math.min(...after) > Math.max(...before)) return { chance, side: "higher" };
  if (Math.max(...after) < Math.min(...before)) return { chance, side: "lower" };
  return { chance, side: undefined };
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

/**
 * A quick and a full run measure other amounts of work in other rounds: they are different experiments.
 *
 * @param file where the earlier one lies
 * @throws ServiceError INVALID_OPTION where the run to come is not of the earlier one's effort
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
    `--compare ${file} holds a ${effort} run, which is another experiment than a ${wanted} one: ${change}.`,
  );
}

/** What must be equal for a comparison to mean anything beside the code: said on stderr where it is not. */
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
