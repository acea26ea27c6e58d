import { at, show } from "../../client/json.ts";
import { type Row, type Scored, softmax, sum } from "../scored.ts";

/** Tolerance for a server that computes in float32. The full profile requires float64. */
export const LOOSE = 1e-6;
export const TIGHT = 1e-9;

/** Tells how the numbers of an answer violate a rule; undefined if they do not. */
export type Rule = (scored: Scored, tolerance: number, isFull: boolean) => string | undefined;

/** The rules for answers of each type. */
export const ANSWER_RULES = {
  softmax: softmaxMisfit,
  confidence: ({ answer, probabilities }, tolerance) =>
    numberMisfit("confidence", answer, Math.max(...probabilities), tolerance),
  choice: ({ answer, labels, scores }) => {
    if (at(answer, "type") !== "choice") return undefined;
    const choice = at(answer, "choice");
    const isBest = scores[labels.indexOf(String(choice))] === Math.max(...scores);
    return isBest ? undefined : `choice is ${show(choice)} of the scores ${show(at(answer, "scores"))}`;
  },
  noul: ({ answer, labels, probabilities }, tolerance, isFull) => {
    if (at(answer, "type") !== "noul") return undefined;
    // the profile `seed` does not fix the names of the outcomes
    const isNamed = isFull || labels.includes("true");
    const shares = isNamed ? [probabilities[labels.indexOf("true")]] : probabilities;
    const misfits = shares.map((share = Number.NaN) => numberMisfit("noul", answer, share, tolerance));
    return misfits.includes(undefined) ? undefined : misfits[0];
  },
  score: ({ answer, labels, probabilities }, tolerance) => {
    if (at(answer, "type") !== "score") return undefined;
    const expected = sum(probabilities.map((share, index) => Number(labels[index]) * share));
    return numberMisfit("score", answer, expected, tolerance);
  },
} as const satisfies Readonly<Record<string, Rule>>;

/** The tolerance of an expected level, which adds up the errors of its probabilities. */
export function levelTolerance(isFull: boolean, levels: number): number {
  return isFull ? TIGHT : LOOSE * levels ** 2;
}

function numberMisfit(name: string, answer: Scored["answer"], wanted: number, tolerance: number) {
  const value = at(answer, name);
  const isClose = typeof value === "number" && Math.abs(value - wanted) <= tolerance;
  return isClose ? undefined : `${name} is ${show(value)}, not ${wanted}`;
}

export function softmaxMisfit(
  { scores, probabilities }: Pick<Scored, "scores" | "probabilities">,
  tolerance: number,
): string | undefined {
  const wanted = softmax(scores);
  const off = probabilities.findIndex((share, at) => !(Math.abs(share - (wanted[at] ?? 0)) <= tolerance));
  if (off < 0) return undefined;
  return `a probability of ${probabilities[off]} where the scores ${JSON.stringify(scores.slice(0, 8))} give ${wanted[off]}`;
}

/** Scores and probabilities of a ranking. */
export function columns(rows: readonly Row[]) {
  return {
    scores: rows.map(({ score }) => score),
    probabilities: rows.map(({ probability }) => probability),
  };
}

/** Candidates of a ranking by label, in the order of the request. */
type Candidates = readonly (readonly [label: string, text: unknown])[];

/** Tells how a ranking's rows differ from the candidates; undefined if they do not. */
export function labelsMisfit(rows: readonly Row[], candidates: Candidates): string | undefined {
  if (rows.length !== candidates.length) return `${rows.length} rows for ${candidates.length} candidates`;
  for (const [label, text] of candidates) {
    const [row, ...others] = rows.filter(({ candidate }) => candidate === label);
    if (row === undefined || others.length > 0)
      return `${others.length + (row === undefined ? 0 : 1)} rows with the label ${JSON.stringify(label)}`;
    if (row.text !== text) return `the text ${JSON.stringify(row.text)} beside ${JSON.stringify(label)}`;
  }
  return undefined;
}

export function orderMisfit(rows: readonly Row[]): string | undefined {
  const at = rows.findIndex(({ score }, index) => !((rows[index - 1]?.score ?? score) >= score));
  return at < 0 ? undefined : `a score of ${rows[at]?.score} after ${rows[at - 1]?.score}`;
}

export function ranksMisfit(rows: readonly Row[]): string | undefined {
  const isCounted = rows.every(({ rank }, index) => rank === index + 1);
  return isCounted ? undefined : `the ranks ${rows.map(({ rank }) => rank).join()}`;
}

/** Neighbours with equal scores. */
export function tiesIn(rows: readonly Row[]): readonly (readonly [Row, Row])[] {
  return rows.slice(1).flatMap((row, index) => {
    const before = rows[index];
    return before?.score === row.score ? [[before, row] as const] : [];
  });
}

export function tiesMisfit(rows: readonly Row[], texts: readonly unknown[]): string | undefined {
  const turned = tiesIn(rows).find(([one, other]) => texts.indexOf(one.text) > texts.indexOf(other.text));
  return turned && `equal scores: ${turned.map(({ text }) => JSON.stringify(text)).join(" before ")}`;
}
