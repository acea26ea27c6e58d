import { at, show } from "../../client/json.ts";
import { type Check, checksOf, type Draft } from "../../trial/check.ts";
import { CONTRACT_LIMITS } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import {
  CHOICE,
  choiceOf,
  labelled,
  NOULS,
  type Row,
  rowsOf,
  SCORE,
  type Scored,
  STATE,
  scoredOf,
  scoreOf,
  softmax,
  sum,
  texts,
} from "../scored.ts";

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

/** Questions of all types with 2 to 20 candidates. They are varied enough that both noul outcomes win at least once. */
const QUESTIONS: Readonly<Record<string, unknown>> = {
  choice: CHOICE,
  swapped: choiceOf({ b: "Reports a fault", a: "Wants money back" }),
  score: SCORE,
  two: scoreOf(["calm", "furious"], "How angry is it?"),
  long: scoreOf(texts(20)),
  ...Object.fromEntries(
    NOULS.flatMap((noul, index) => [
      [`noul${index}`, noul],
      [`not${index}`, { ...noul, instructions: `It is wrong to say: ${noul.instructions}` }],
    ]),
  ),
};
const CANDIDATES = ["a refund", "a poem about the sea", "a reported fault", "an angry customer", "5", "x"];
const { maxCandidates } = CONTRACT_LIMITS;

/** Checks of the arithmetic between the numbers of an answer. */
export const ARITHMETIC_CHECKS: readonly Check[] = [
  ...checksOf("interface: Scores and probabilities", {
    "arithmetic.softmax": {
      clause: "Probabilities are the softmax of the raw scores over the temperature.",
      expected: "softmax(scores / 4.136820402388508) to 1e-6, for each type and for rankings",
      ...holdingEverywhere(softmaxMisfit, LOOSE),
    },
    "arithmetic.many-levels": {
      clause: `The arithmetic also holds for ${maxCandidates} candidates.`,
      expected: `softmax, confidence and expected level of ${maxCandidates} levels and of ${maxCandidates} labels`,
      isGentle: false,
      run: async (trial) => {
        const candidates = texts(trial.facts.limits.maxCandidates);
        const questions = { s: scoreOf(candidates), c: choiceOf(labelled(candidates)) };
        await expectAnswers(trial, questions, softmaxMisfit, () => LOOSE);
        await expectAnswers(trial, questions, scoreInOrder, () => LOOSE * candidates.length);
        await expectRanking(trial, candidates, softmaxMisfit, LOOSE);
      },
    },
  }),
  ...checksOf("contract: Scores and probabilities", {
    "arithmetic.precision": {
      clause: "Numbers have full float64 precision, and probabilities sum to 1 within 1e-9.",
      expected: "softmax to 1e-9, a sum of 1 within 1e-9, and no rounded digits",
      ...holdingEverywhere(precisionMisfit, TIGHT),
    },
  }),
  ...checksOf("interface: Decisions", {
    "arithmetic.confidence": {
      clause: "`confidence` is the largest probability, also for a noul that is more likely false.",
      expected: "the largest of `probabilities`, in answers of each type",
      ...holding(ANSWER_RULES.confidence, ({ profile }) => (profile === "full" ? 0 : LOOSE)),
    },
    "arithmetic.choice": {
      clause: "`choice` is the label with the largest score.",
      expected: "the label of the largest raw score",
      ...holding(ANSWER_RULES.choice, () => 0),
    },
    "arithmetic.noul": {
      clause: "`noul` is the probability of `true`.",
      expected: "the probability under `true`, a number rather than a boolean",
      ...holding(ANSWER_RULES.noul, () => LOOSE),
    },
    "arithmetic.score": {
      clause: "`score` is the sum of each zero-based level times its probability.",
      expected: "the sum over the probabilities in the answer, to 1e-6 (to 1e-9 in the full profile)",
      ...holding(ANSWER_RULES.score, ({ profile }, { labels }) =>
        levelTolerance(profile === "full", labels.length),
      ),
    },
  }),
];

/** The expected level, if the probabilities are in the order of the levels. */
const scoreInOrder: Rule = (scored, tolerance) =>
  ANSWER_RULES.score({ ...scored, labels: scored.labels.map((_, index) => String(index)) }, tolerance);

type Tolerance = (trial: Trial, scored: Scored) => number;
/** A rule that needs only scores and probabilities, which a ranking has too. */
type NumbersRule = typeof softmaxMisfit;

/** Tests a rule on answers of each type. */
function holding(rule: Rule, tolerance: Tolerance): Pick<Draft, "run"> {
  return { run: (trial) => expectAnswers(trial, QUESTIONS, rule, tolerance) };
}

/** The same, and on a ranking. */
function holdingEverywhere(rule: NumbersRule, tolerance: number): Pick<Draft, "run"> {
  return {
    run: async (trial) => {
      await expectAnswers(trial, QUESTIONS, rule, () => tolerance);
      await expectRanking(trial, CANDIDATES, rule, tolerance);
    },
  };
}

async function expectAnswers(
  trial: Trial,
  questions: Readonly<Record<string, unknown>>,
  rule: Rule,
  tolerance: Tolerance,
): Promise<void> {
  const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions });
  for (const name of Object.keys(questions)) {
    const scored = scoredOf(trial, inferred, name);
    trial.fits(rule(scored, tolerance(trial, scored), trial.profile === "full"), inferred);
  }
}

async function expectRanking(
  trial: Trial,
  candidates: readonly string[],
  rule: NumbersRule,
  tolerance: number,
): Promise<void> {
  const ranked = await trial.infer(RANK, { state: STATE, question: "What is it?", candidates });
  trial.fits(rule(columns(rowsOf(trial, ranked)), tolerance), ranked);
}

function precisionMisfit(numbers: Parameters<NumbersRule>[0], tolerance: number): string | undefined {
  const { scores, probabilities } = numbers;
  const total = sum(probabilities);
  if (!(Math.abs(total - 1) <= tolerance)) return `probabilities that sum to ${total}`;
  // a float64 with fewer than 13 digits is rare; if all of an answer have fewer, they were rounded
  const isShort = (value: number) =>
    value === Number(value.toPrecision(12)) || value === Number(value.toFixed(12));
  const isTold = probabilities.some((value) => value !== 0 && value !== 1);
  if (probabilities.length >= 3 && isTold && probabilities.every(isShort))
    return `rounded probabilities ${JSON.stringify(probabilities.slice(0, 8))}`;
  // multiples of 0.001 were rounded: binary fractions, also coarse ones, have other decimals
  const isThousandth = (score: number) => Math.abs(score * 1000 - Math.round(score * 1000)) < 0.01;
  if (scores.length >= 5 && scores.every(isThousandth))
    return `rounded scores ${JSON.stringify(scores.slice(0, 8))}`;
  return softmaxMisfit(numbers, tolerance);
}
