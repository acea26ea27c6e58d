import { at, isList, isMap, type Json, namesOf, show } from "../client/json.ts";
import { RANK, SYSTEMONE } from "../trial/operations.ts";
import { nonce } from "../trial/salts.ts";
import type { Inferred, Trial } from "../trial/trial.ts";

/** Divisor of the scores in the softmax (contract: Scores and probabilities). */
export const TEMPERATURE = 4.136820402388508;
export const SOURCE = "softmax_ranking_scores_external_temperature";

/** Labels, scores and probabilities of one answer, in the order of its probabilities. */
export interface Scored {
  readonly answer: Json;
  readonly labels: readonly string[];
  readonly scores: readonly number[];
  readonly probabilities: readonly number[];
}

/** Questions of every type, worded so that candidates get different scores. */
export const CHOICE = {
  type: "choice",
  instructions: "What does the customer want?",
  criteria: { refund: "Wants money back", cancel: "Wants to end the subscription", fault: "Reports a fault" },
};
export const SCORE = {
  type: "score",
  instructions: "How urgent is it?",
  criteria: ["can wait", "this week", "today"],
};
export const NOULS = [
  "The customer is angry.",
  "The customer is happy.",
  "A payment is mentioned.",
  "A parcel is mentioned.",
  "The text is in English.",
  "The text is a poem.",
].map((instructions) => ({ type: "noul", instructions }));
export const STATE =
  "I was charged twice for one order. Give me my money back today or I will go to my bank!";

/** A state that no request has had before. */
export function freshState(): string {
  return `${STATE} My order is ${nonce()}.`;
}

/** A score question about texts. */
export function scoreOf(criteria: readonly unknown[], instructions: unknown = "How urgent is it?") {
  return { type: "score", instructions, criteria };
}
export function choiceOf(criteria: unknown, instructions: unknown = "Which one?") {
  return { type: "choice", instructions, criteria };
}

/** Distinct short texts. */
export function texts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `level ${index}`);
}

/** Sizes of the fewest questions with `pairs` candidates in total and at most `most` each, as even as possible. */
export function sizesOf(pairs: number, most: number): number[] {
  const count = Math.ceil(pairs / most);
  return Array.from({ length: count }, (_, index) => Math.floor((pairs + index) / count));
}

export function labelled(given: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(given.map((text, index) => [`l${index}`, text]));
}

export function numbered(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));
}

/**
 * The labels, scores and probabilities of an answer.
 *
 * @throws CannotTell if they are missing; the checks of shapes report that
 */
export function scoredOf(trial: Trial, { json }: Inferred, name: string): Scored {
  const answer = at(json, "answers", name);
  const probabilities = at(answer, "probabilities");
  if (answer === undefined || !isMap(probabilities)) trial.skip(`no probabilities to check: ${show(answer)}`);
  const labels = namesOf(probabilities);
  const scores = scoresByLabel(at(answer, "scores"), labels);
  const shares = [...probabilities.values()];
  if (scores === undefined || !isNumbers(shares)) trial.skip(`no scores to check: ${show(answer)}`);
  return { answer, labels, scores, probabilities: shares };
}

/** Scores by label, or by position if the server gives a list. */
function scoresByLabel(value: Json | undefined, labels: readonly string[]): readonly number[] | undefined {
  const found = labels.map((label, index) => (isList(value) ? value[index] : at(value, label)));
  return isNumbers(found) ? found : undefined;
}

export function isNumbers(values: readonly (Json | undefined)[]): values is readonly number[] {
  return values.every((value) => typeof value === "number" && Number.isFinite(value));
}

/** Asks one question. */
export async function ask(trial: Trial, question: unknown, state: unknown = STATE): Promise<Scored> {
  return scoredOf(trial, await trial.infer(SYSTEMONE, { state, questions: { q: question } }), "q");
}

export function softmax(scores: readonly number[]): number[] {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp((score - largest) / TEMPERATURE));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

export function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

export interface Row {
  readonly rank: number;
  readonly candidate: string;
  readonly text: string;
  readonly score: number;
  readonly probability: number;
}

/** Rows of a ranking. @throws CannotTell if they are missing; the checks of shapes report that */
export function rowsOf(trial: Trial, { json }: Inferred): readonly Row[] {
  const ranked = at(json, "ranked");
  if (!isList(ranked)) trial.skip(`no ranking to check: ${show(ranked)}`);
  return ranked.map((row) => {
    const [rank, candidate, text, score, probability] = [
      "rank",
      "candidate",
      "text",
      "score",
      "probability",
    ].map((name) => at(row, name));
    if (
      typeof candidate !== "string" ||
      typeof text !== "string" ||
      typeof rank !== "number" ||
      typeof score !== "number" ||
      typeof probability !== "number"
    )
      trial.skip(`no complete row to check: ${show(row)}`);
    return { rank, candidate, text, score, probability };
  });
}

/** Ranks texts and returns their raw scores, in the order given. */
export async function rankScores(
  trial: Trial,
  state: unknown,
  question: unknown,
  candidates: readonly string[],
): Promise<{
  readonly scores: readonly number[];
  readonly tokens: Json | undefined;
  readonly inferred: Inferred;
}> {
  const inferred = await trial.infer(RANK, { state, question, candidates });
  const scores = listScores(trial, inferred, candidates.length);
  return { scores, tokens: at(inferred.json, "usage", "input_tokens"), inferred };
}

/** Raw scores of a ranked list, in the order of the request. @throws CannotTell if they are missing */
export function listScores(trial: Trial, inferred: Inferred, count: number): readonly number[] {
  const rows = rowsOf(trial, inferred);
  const scores = Array.from(
    { length: count },
    (_, index) => rows.find(({ candidate }) => candidate === String(index))?.score,
  );
  if (!isNumbers(scores)) trial.skip("the rows are not labelled by position: see rank.list-labels");
  return scores;
}

/**
 * Whether two scores of one pair count as equal. The profile `full` requires equal bits. The profile `seed` allows
 * small differences by batching: up to 2 % of the spread of an answer's scores. Chosen.
 */
export function isSameScore(trial: Trial, one: number, other: number, spread: number): boolean {
  return trial.profile === "full" ? one === other : isCloseScore(one, other, spread);
}

export function isCloseScore(one: number, other: number, spread: number): boolean {
  return Math.abs(one - other) <= 0.02 * Math.max(1, spread);
}

export function spreadOf(scores: readonly number[]): number {
  return Math.max(...scores) - Math.min(...scores);
}
