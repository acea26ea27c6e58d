import { answerQuestions } from "../answers.ts";
import { rankCandidates, type SentCandidate } from "../rank.ts";
import type { RenderedRequest } from "../request.ts";
import type { QuestionFacts } from "../systemone.ts";
import type { StatePart } from "./state-parts.ts";

/** How a part of the state moved the answer to a question. */
export interface PartInfluence {
  /** Probability of the answer, less its probability without the part. */
  readonly shift: number;
  /** The label with the largest score without the part. */
  readonly answer: string;
  readonly probabilities: ReadonlyMap<string, number>;
}

/** A request, followed by the same questions about its state without each of the parts. */
export function askedWithout(
  request: RenderedRequest,
  parts: readonly StatePart[],
): readonly RenderedRequest[] {
  const { state, questions } = request;
  return [
    { state, questions },
    ...parts.map(({ without }) => ({ state: { text: without, loc: state.loc }, questions })),
  ];
}

/**
 * The answers, and how each part moved them.
 *
 * @param scores [1 + parts] x [questions] arrays of [candidates], in the order of `askedWithout`
 * @throws ServiceError BACKEND_FAILED on a non-finite score, or when the scores do not fit the questions
 */
export function explainAnswers(
  facts: readonly QuestionFacts[],
  parts: readonly StatePart[],
  scores: readonly Float32Array[],
  temperature: number,
) {
  const ofState = (at: number) => scores.slice(at * facts.length, (at + 1) * facts.length);
  const answers = answerQuestions(facts, ofState(0), temperature);
  const influence = parts.map(({ unit, text }, at) => {
    const without = answerQuestions(facts, ofState(at + 1), temperature);
    const questions = Array.from(answers, ([name, { probabilities }]) => {
      const after = without.get(name)?.probabilities ?? new Map();
      return [name, influenceOf(probabilities, after)] as const;
    });
    return { unit, text, questions: new Map(questions) };
  });
  return { answers, influence };
}

/**
 * The ranked candidates, and how each part moved the first of them.
 *
 * @param scores [1 + parts] arrays of [candidates], in the order of `askedWithout`
 * @throws ServiceError BACKEND_FAILED on a non-finite score, or when the scores do not fit the candidates
 */
export function explainRanking(
  sent: readonly SentCandidate[],
  parts: readonly StatePart[],
  scores: readonly Float32Array[],
  temperature: number,
) {
  const ranked = rankCandidates(sent, scores[0], temperature);
  const sharesOf = (at: number) => {
    const found = rankCandidates(sent, scores[at], temperature);
    const byLabel = new Map(found.map(({ candidate, probability }) => [candidate, probability]));
    return new Map(sent.map(({ label }) => [label, byLabel.get(label) ?? 0]));
  };
  const before = sharesOf(0);
  const influence = parts.map(({ unit, text }, at) => ({
    unit,
    text,
    question: influenceOf(before, sharesOf(at + 1)),
  }));
  return { ranked, influence };
}

function influenceOf(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): PartInfluence {
  const answer = likeliest(before);
  return {
    shift: (before.get(answer) ?? 0) - (after.get(answer) ?? 0),
    answer: likeliest(after),
    probabilities: after,
  };
}

/** The first one if several are equal. */
function likeliest(byLabel: ReadonlyMap<string, number>): string {
  const [first = ""] = [...byLabel].reduce((best, each) => (each[1] > best[1] ? each : best), ["", -1]);
  return first;
}
