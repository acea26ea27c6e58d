import { at, show } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { CONTRACT_LIMITS } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
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

/** Questions of all types with 2 to 20 candidates. They are varied enough that both noul outcomes win at least once. */
const QUESTIONS: Readonly<Record<string, unknown>> = {
  choice: CHOICE,
  swapped: choiceOf({ b: "Reports a fault", a: "Wants money back" }),
  score: SCORE,
  two: scoreOf(["calm", "furious"], "How angry is it?"),
  long: scoreOf(texts(20)),
  ...Object.fromEntries(NOULS.map((question, index) => [`noul${index}`, question])),
  ...Object.fromEntries(
    NOULS.map(({ instructions }, index) => [
      `not${index}`,
      { type: "noul", instructions: `It is wrong to say: ${instructions}` },
    ]),
  ),
};
const CANDIDATES = ["a refund", "a poem about the sea", "a reported fault", "an angry customer", "5", "x"];

/** Tolerance for a server that computes in float32. The full profile requires float64. */
const LOOSE = 1e-6;
const TIGHT = 1e-9;

/** Checks of the arithmetic between the numbers of an answer. */
export const ARITHMETIC_CHECKS: readonly Check[] = [
  ofAnswers({
    id: "arithmetic.softmax",
    clause: "Probabilities are the softmax of the raw scores over the temperature.",
    source: "interface: Scores and probabilities",
    expected: "softmax(scores / 4.136820402388508) to 1e-6, for each type and for rankings",
    answer: (trial: Trial, scored, inferred) => checkSoftmax(trial, scored, inferred, LOOSE),
    ranking: (trial: Trial, rows, inferred) => checkSoftmax(trial, columns(rows), inferred, LOOSE),
  }),
  ofAnswers({
    id: "arithmetic.precision",
    clause: "Numbers have full float64 precision, and probabilities sum to 1 within 1e-9.",
    source: "contract: Scores and probabilities",
    expected: "softmax to 1e-9, a sum of 1 within 1e-9, and no rounded digits",
    answer: checkPrecision,
    ranking: (trial: Trial, rows, inferred) => checkPrecision(trial, columns(rows), inferred),
  }),
  ofAnswers({
    id: "arithmetic.confidence",
    clause: "`confidence` is the largest probability, also for a noul that is more likely false.",
    source: "interface: Decisions",
    expected: "the largest of `probabilities`, in answers of each type",
    answer: (trial: Trial, { answer, probabilities }, inferred) => {
      const confidence = at(answer, "confidence");
      const largest = Math.max(...probabilities);
      const isLargest =
        typeof confidence === "number" &&
        Math.abs(confidence - largest) <= (trial.profile === "full" ? 0 : LOOSE);
      trial.expect(
        isLargest,
        `confidence is ${show(confidence)}, the largest probability ${largest}`,
        inferred,
      );
    },
  }),
  ofAnswers({
    id: "arithmetic.choice",
    clause: "`choice` is the label with the largest score.",
    source: "interface: Decisions",
    expected: "the label of the largest raw score",
    answer: (trial: Trial, { answer, labels, scores }, inferred) => {
      if (at(answer, "type") !== "choice") return;
      const chosen = labels.indexOf(String(at(answer, "choice")));
      trial.expect(
        scores[chosen] === Math.max(...scores),
        `choice is ${show(at(answer, "choice"))} of the scores ${show(at(answer, "scores"))}`,
        inferred,
      );
    },
  }),
  ofAnswers({
    id: "arithmetic.noul",
    clause: "`noul` is the probability of `true`.",
    source: "interface: Decisions",
    expected: "the probability under `true`, a number rather than a boolean",
    answer: (trial: Trial, { answer, labels, probabilities }, inferred) => {
      if (at(answer, "type") !== "noul") return;
      const noul = at(answer, "noul");
      // the profile `seed` does not fix the names of the outcomes
      const position = labels.indexOf("true");
      const shares = position < 0 && trial.profile === "seed" ? probabilities : [probabilities[position]];
      const isShare =
        typeof noul === "number" &&
        shares.some((share) => share !== undefined && Math.abs(share - noul) <= LOOSE);
      trial.expect(isShare, `noul is ${show(noul)} beside ${show(at(answer, "probabilities"))}`, inferred);
    },
  }),
  ofAnswers({
    id: "arithmetic.score",
    clause: "`score` is the sum of each zero-based level times its probability.",
    source: "interface: Decisions",
    expected: "the sum over the probabilities in the answer, to 1e-6 (to 1e-9 in the full profile)",
    answer: (trial: Trial, { answer, labels, probabilities }, inferred) => {
      if (at(answer, "type") !== "score") return;
      const score = at(answer, "score");
      const expected = sum(probabilities.map((share, index) => Number(labels[index]) * share));
      const tolerance = trial.profile === "full" ? TIGHT : LOOSE * probabilities.length ** 2;
      trial.expect(
        typeof score === "number" && Math.abs(score - expected) <= tolerance,
        `score is ${show(score)}, the sum ${expected}`,
        inferred,
      );
    },
  }),
  defineCheck({
    id: "arithmetic.many-levels",
    clause: `The arithmetic also holds for ${CONTRACT_LIMITS.maxCandidates} candidates.`,
    source: "interface: Scores and probabilities",
    expected: `softmax, confidence and expected level of ${CONTRACT_LIMITS.maxCandidates} levels and of ${CONTRACT_LIMITS.maxCandidates} labels`,
    isGentle: false,
    run: async (trial: Trial) => {
      const most = trial.facts.limits.maxCandidates;
      const candidates = texts(most);
      const questions = { s: scoreOf(candidates), c: choiceOf(labelled(candidates)) };
      const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions });
      for (const name of ["s", "c"]) checkSoftmax(trial, scoredOf(trial, inferred, name), inferred, LOOSE);
      const { answer, probabilities } = scoredOf(trial, inferred, "s");
      const expected = sum(probabilities.map((share, level) => share * level));
      const score = at(answer, "score");
      const isSum = typeof score === "number" && Math.abs(score - expected) <= LOOSE * most;
      trial.expect(isSum, `score is ${show(score)}, the sum ${expected}`, inferred);
      const ranked = await trial.infer(RANK, { state: STATE, candidates });
      checkSoftmax(trial, columns(rowsOf(trial, ranked)), ranked, LOOSE);
    },
  }),
];

interface Rule {
  readonly id: string;
  readonly clause: string;
  readonly source: string;
  readonly expected: string;
  readonly answer: (trial: Trial, scored: Scored, inferred: Inferred) => void;
  readonly ranking?: (trial: Trial, rows: readonly Row[], inferred: Inferred) => void;
}

/** A check that tests a rule on each answer and on a ranking. */
function ofAnswers({ answer, ranking, ...draft }: Rule): Check {
  return defineCheck({
    ...draft,
    run: async (trial: Trial) => {
      const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions: QUESTIONS });
      for (const name of Object.keys(QUESTIONS)) answer(trial, scoredOf(trial, inferred, name), inferred);
      if (ranking === undefined) return;
      const ranked = await trial.infer(RANK, {
        state: STATE,
        question: "What is it?",
        candidates: CANDIDATES,
      });
      ranking(trial, rowsOf(trial, ranked), ranked);
    },
  });
}

type Columns = Pick<Scored, "scores" | "probabilities">;

function columns(rows: readonly Row[]): Columns {
  return {
    scores: rows.map(({ score }) => score),
    probabilities: rows.map(({ probability }) => probability),
  };
}

function checkSoftmax(trial: Trial, scored: Columns, inferred: Inferred, tolerance: number): void {
  const expected = softmax(scored.scores);
  for (const [index, probability] of scored.probabilities.entries()) {
    const wanted = expected[index] ?? Number.NaN;
    trial.expect(
      Math.abs(probability - wanted) <= tolerance,
      `a probability of ${probability} where the scores ${JSON.stringify(scored.scores.slice(0, 8))} give ${wanted}`,
      inferred,
    );
  }
}

function checkPrecision(trial: Trial, scored: Columns, inferred: Inferred): void {
  checkSoftmax(trial, scored, inferred, TIGHT);
  const total = sum(scored.probabilities);
  trial.expect(Math.abs(total - 1) <= TIGHT, `probabilities that sum to ${total}`, inferred);
  // a float64 with fewer than 13 digits is rare; if all of an answer have fewer, they were rounded
  const isRounded = (numbers: readonly number[]) =>
    numbers.some((value) => value !== 0 && value !== 1) &&
    numbers.every((value) => value === Number(value.toPrecision(12)) || value === Number(value.toFixed(12)));
  trial.expect(
    !isRounded(scored.probabilities) || scored.probabilities.length < 3,
    `rounded probabilities ${JSON.stringify(scored.probabilities.slice(0, 8))}`,
    inferred,
  );
  // multiples of 0.001 were rounded: binary fractions, also coarse ones, have other decimals
  const isThousandth = (score: number) => Math.abs(score * 1000 - Math.round(score * 1000)) < 0.01;
  trial.expect(
    scored.scores.length < 5 || !scored.scores.every(isThousandth),
    `rounded scores ${JSON.stringify(scored.scores.slice(0, 8))}`,
    inferred,
  );
}
