import { isRecord, parsedJson } from "../../src/records.ts";
import { TOO_LONG } from "../measure/tally.ts";
import type { BenchRequest } from "../workloads/workload.ts";

/** Tolerance of the sum of probabilities, from the contract. */
const SUM_TOLERANCE = 1e-9;

/**
 * Checks an answer: expected status, all questions with their labels, finite numbers, probabilities that sum to 1, and
 * a decision that follows from them.
 *
 * @returns the fault in a few words, without content; undefined if there is none
 */
export function findFault(request: BenchRequest, status: number, body: string): string | undefined {
  if (status !== request.expectedStatus && isTooLong(request, status, body)) return TOO_LONG;
  if (status !== request.expectedStatus) return `status ${status} instead of ${request.expectedStatus}`;
  const reply = parsedJson(body);
  if (!isRecord(reply)) return "the body is not a JSON object";
  if (status === 422) return Array.isArray(reply.detail) ? undefined : "a 422 without a list of details";
  return request.operation === "rank" ? rankFault(request, reply) : answersFault(request, reply);
}

function isTooLong({ mayBeTooLong = false }: BenchRequest, status: number, body: string): boolean {
  if (!mayBeTooLong || status !== 422) return false;
  const reply = parsedJson(body);
  const issues: readonly unknown[] = isRecord(reply) && Array.isArray(reply.detail) ? reply.detail : [];
  return issues.length > 0 && issues.every((issue) => isRecord(issue) && issue.type === "too_many_tokens");
}

function answersFault(request: BenchRequest, { answers }: Record<string, unknown>): string | undefined {
  if (!isRecord(answers) || !isSameSet(Object.keys(answers), [...request.labels.keys()])) {
    return "the answers are not those of the questions";
  }
  for (const [name, labels] of request.labels) {
    const answer = answers[name];
    if (!isRecord(answer)) return "an answer is no object";
    const fault = numbersFault(labels, answer.probabilities, answer.scores) ?? decisionFault(answer);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function decisionFault(answer: Record<string, unknown>): string | undefined {
  const { type, choice, noul, score, scores } = answer;
  const probabilities = isRecord(answer.probabilities) ? answer.probabilities : {};
  const shares = numbers(probabilities);
  if (answer.confidence !== Math.max(...shares)) return "the confidence is not the largest probability";
  if (type === "choice") {
    const isBest = isRecord(scores) && scores[String(choice)] === Math.max(...numbers(scores));
    return isBest ? undefined : "the choice is not the label with the largest score";
  }
  if (type === "noul") return noul === probabilities.true ? undefined : "noul is not the probability of true";
  const expected = shares.reduce((sum, share, level) => sum + level * share, 0);
  const isExpected = Math.abs(Number(score) - expected) <= SUM_TOLERANCE * shares.length ** 2;
  return isExpected ? undefined : "the score is not the expected level";
}

function rankFault(request: BenchRequest, { ranked }: Record<string, unknown>): string | undefined {
  const rows: readonly unknown[] = Array.isArray(ranked) ? ranked : [];
  const entries = rows.filter(isRecord);
  const labels = request.labels.get("") ?? [];
  const by = (member: string) =>
    Object.fromEntries(entries.map((entry) => [String(entry.candidate), entry[member]]));
  const fault = numbersFault(labels, by("probability"), by("score"));
  if (fault !== undefined || entries.length !== labels.length) return fault ?? "a candidate is ranked twice";
  const isSorted = entries.every(
    ({ rank, score }, i) => rank === i + 1 && (i === 0 || Number(entries[i - 1]?.score) >= Number(score)),
  );
  return isSorted ? undefined : "the ranking is not in order";
}

function numbersFault(
  labels: readonly string[],
  probabilities: unknown,
  scores: unknown,
): string | undefined {
  for (const values of [probabilities, scores]) {
    if (!isRecord(values) || !isSameSet(Object.keys(values), labels))
      return "the labels are not those asked for";
    if (!Object.values(values).every((value) => typeof value === "number")) return "a number is missing";
  }
  const sum = numbers(probabilities).reduce((total, value) => total + value, 0);
  return Math.abs(sum - 1) <= SUM_TOLERANCE ? undefined : "the probabilities do not add up to 1";
}

function numbers(values: unknown): number[] {
  return isRecord(values) ? Object.values(values).map(Number) : [];
}

/** The order of labels is not checked, because `JSON.parse` moves integer-like names to the front. */
function isSameSet(names: readonly string[], others: readonly string[]): boolean {
  const set = new Set(names);
  return names.length === others.length && others.every((name) => set.has(name));
}
