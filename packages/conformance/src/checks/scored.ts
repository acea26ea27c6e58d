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

/** The numbers of an answer by label, or by position if the server gives a list; undefined if they are incomplete. */
export function readScored(answer: Json | undefined): Scored | undefined {
  const [shares, given] = [at(answer, "probabilities"), at(answer, "scores")];
  if (answer === undefined || !isMap(shares)) return undefined;
  const labels = namesOf(shares);
  const scores = labels.map((label, index) => (isList(given) ? given[index] : at(given, label)));
  const probabilities = [...shares.values()];
  return isNumbers(scores) && isNumbers(probabilities)
    ? { answer, labels, scores, probabilities }
    : undefined;
}

/** The same. @throws CannotTell if they are missing; the checks of shapes report that */
export function scoredOf(trial: Trial, { json }: Inferred, name: string): Scored {
  const answer = at(json, "answers", name);
  return readScored(answer) ?? trial.skip(`no scores or probabilities to check: ${show(answer)}`);
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

/** Rows of a ranking; undefined if they are incomplete. */
export function readRows(ranked: Json | undefined): readonly Row[] | undefined {
  if (!isList(ranked)) return undefined;
  const rows = ranked.flatMap((row) => {
    const [candidate, text] = [at(row, "candidate"), at(row, "text")];
    const numbers = [at(row, "rank"), at(row, "score"), at(row, "probability")];
    if (typeof candidate !== "string" || typeof text !== "string" || !isNumbers(numbers)) return [];
    const [rank = 0, score = 0, probability = 0] = numbers;
    return [{ rank, candidate, text, score, probability }];
  });
  return rows.length === ranked.length ? rows : undefined;
}

/** The same. @throws CannotTell if they are missing; the checks of shapes report that */
export function rowsOf(trial: Trial, { json }: Inferred): readonly Row[] {
  const ranked = at(json, "ranked");
  return readRows(ranked) ?? trial.skip(`no complete ranking to check: ${show(ranked)}`);
}

/** Ranks texts and returns their raw scores, in the order given. */
export async function rankScores(
  trial: Trial,
  state: unknown,
  question: unknown,
  candidates: readonly string[],
) {
  const inferred = await trial.infer(RANK, { state, question, candidates });
  const scores = listScores(trial, inferred, candidates.length);
  return { scores, inferred };
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

/** Whether two scores of one pair count as equal, in an answer with this spread of scores. */
export type IsSame = (one: number, other: number, spread: number) => boolean;

export const isEqual: IsSame = (one, other) => one === other;

/** Allows the small differences that batching makes: up to 2 % of the spread of an answer's scores. Chosen. */
export const isClose: IsSame = (one, other, spread) => Math.abs(one - other) <= 0.02 * Math.max(1, spread);

export function areSame(one: readonly number[], other: readonly number[], isSame: IsSame): boolean {
  const spread = spreadOf(other);
  return one.length === other.length && one.every((x, at) => isSame(x, other[at] ?? Number.NaN, spread));
}

/** Expects the same scores for the same pairs: the profile `full` requires equal bits, the profile `seed` close ones. */
export function expectSameScores(
  trial: Trial,
  came: readonly number[],
  wanted: readonly number[],
  about: Inferred,
): void {
  const isSame = areSame(came, wanted, trial.profile === "full" ? isEqual : isClose);
  trial.expect(isSame, `the scores ${JSON.stringify(came)}, not ${JSON.stringify(wanted)}`, about);
}

export function spreadOf(scores: readonly number[]): number {
  return Math.max(...scores) - Math.min(...scores);
}
