import { REQUEST_LIMITS, type RenderedQuestion } from "../../../src/decisions/request.ts";
import type { Fault } from "./faulty-service.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { cachedBy, eachAnswer, eachScore, edit, rowsOf, showing } from "./planting.ts";
import { inner, readTree } from "./tree.ts";

const { maxCandidates } = REQUEST_LIMITS;

/** Adds to all scores of an answer: its probabilities stay right. */
const shiftWhen = (isMeant: (request: string) => boolean): Fault =>
  on.answer((body, operation, request) => {
    if (!isMeant(request)) return;
    const shift = eachAnswer((answer) => {
      for (const [name, score] of inner(answer, "scores"))
        inner(answer, "scores").set(name, Number(score) + 0.01);
    });
    shift.answer?.(body, operation, request);
    for (const row of rowsOf(body)) row.set("score", Number(row.get("score")) + 0.01);
  });
const membersOf = (text: string): string[] => {
  const body = readTree(text);
  return body instanceof Map ? [...body.keys()] : [];
};
/** Prepends to each question, or candidate, the previous one. */
const joined = <T extends { readonly text: string }>(texts: readonly T[]): T[] =>
  texts.map((one, index) => ({ ...one, text: `${texts[index - 1]?.text ?? ""} ${one.text}`.trim() }));
const withQuestions = (change: (questions: readonly RenderedQuestion[]) => RenderedQuestion[]): Fault =>
  on.texts((request) => ({ ...request, questions: change(request.questions) }));
let isAfterRefusal = false;

/** Scores that depend on only a part of the pair, or on more than the pair. */
export const SCORE_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "a cache by both ends of a state: scores.whole-state": cachedBy((state, ...others) =>
      [state.slice(0, 256), state.slice(-256), ...others].join("\n"),
    ),
    "a cache by the set of words of a state: scores.whole-state": cachedBy((state, ...others) =>
      [[...new Set(state.split(/\s+/))].join(" "), ...others].join("\n"),
    ),
    "a cache by the last 64 characters of a question: scores.whole-instructions": cachedBy(
      (state, question, candidate) => [state, question.slice(-64), candidate].join("\n"),
    ),
    "a cache by both ends of a candidate: scores.whole-candidate": cachedBy((state, question, text) =>
      [state, question, text.slice(0, 64), text.slice(-64)].join("\n"),
    ),
    "a cache without punctuation: scores.whole-candidate, texts.only-state-holds-json": cachedBy((...texts) =>
      texts.map((text) => text.replaceAll(/[^\p{L}\p{N}\s]/gu, "")).join("\n"),
    ),
    "a cache by question and candidate in one text: scores.borders": cachedBy((state, question, candidate) =>
      [state, question + candidate].join("\n"),
    ),
    "a cache by state and question in one text: scores.borders": cachedBy((state, question, candidate) =>
      [state + question, candidate].join("\n"),
    ),
    "a cache that forgets the state: scores.again-elsewhere, texts.differ": cachedBy((_state, ...others) =>
      others.join("\n"),
    ),
    "a cache by labels: scores.candidates, scores.candidates.bits": cachedByLabels(),
    "the name of a question shown: scores.names, scores.names.bits, texts.noul-default": on.texts(
      (request) => ({
        ...request,
        questions: request.questions.map((one) => ({
          ...one,
          question:
            one.question.loc[1] === "questions"
              ? { ...one.question, text: `${String(one.question.loc[2])}: ${one.question.text}` }
              : one.question,
        })),
      }),
    ),
    "a question that sees the one before: scores.company, scores.company.bits": withQuestions((questions) => {
      const texts = joined(questions.map(({ question }) => question));
      return questions.map((one, index) => ({ ...one, question: texts[index] ?? one.question }));
    }),
    "a candidate that sees the one before: scores.criteria-order, usage.additive": withQuestions(
      (questions) => questions.map((one) => ({ ...one, candidates: joined(one.candidates) })),
    ),
    "the second half of the most candidates scored like the first: scores.many-candidates, scores.many-candidates.bits":
      on.scores((scored) => ({
        ...scored,
        scores: scored.scores.map((row) =>
          row.map((score, index) => row[index % (maxCandidates / 2)] ?? score),
        ),
      })),
    "scores rounded to two digits: arithmetic.precision": eachScore((score) => Math.round(score * 100) / 100),
    "the middle of long states left out: limits.tokens.never-cut": on.texts((request) => {
      const words = request.state.text.split(" ");
      if (words.length < 400) return request;
      return {
        ...request,
        state: { ...request.state, text: [...words.slice(0, 200), ...words.slice(-200)].join(" ") },
      };
    }),
    "long descriptions of levels cut off: scores.whole-description": showing(({ loc, text }) =>
      typeof loc[4] === "number" ? text.slice(0, 300) : text,
    ),
    "members of a state past twenty left out: scores.whole-structure": edit((body) => {
      const state = body.get("state");
      if (state instanceof Map) for (const name of [...state.keys()].slice(20)) state.delete(name);
      if (Array.isArray(state)) state.length = Math.min(state.length, 20);
    }),
    "scores that depend on the number of questions: scores.alone.bits, scores.concurrency.bits": on.scores(
      (scored) => ({
        ...scored,
        scores: scored.scores.map((row) => row.map((score) => score + scored.scores.length * 1e-4)),
      }),
    ),
    "scores that depend on the order of a request's members: scores.spelling.bits": shiftWhen(
      (text) => !["state", "context"].includes(membersOf(text)[0] ?? ""),
    ),
    "scores that depend on the name of the state: alias.context, scores.spelling.bits": shiftWhen((text) =>
      membersOf(text).includes("context"),
    ),
  }),
  ...faults(
    {
      "scores that are off after a refused request: scores.own-request.bits": {
        reply: (reply) => {
          if (reply.status === 422) isAfterRefusal = true;
          return reply;
        },
        scores: (scored) => {
          const shift = isAfterRefusal ? 0.01 : 0;
          isAfterRefusal = false;
          return { ...scored, scores: scored.scores.map((row) => row.map((score) => score + shift)) };
        },
      },
    },
    { only: ["scores.own-request.bits"] },
  ),
];

/** Labels stand for the candidates' texts. */
function cachedByLabels(): Fault {
  const known = new Map<string, number>();
  return on.scores((scored, request) => ({
    ...scored,
    scores: scored.scores.map((row, place) =>
      row.map((score, index) => {
        const { question, candidates } = request.questions[place] ?? {
          question: request.state,
          candidates: [],
        };
        const key = [request.state.text, question.text, candidates[index]?.label].join("\n");
        const old = known.get(key) ?? score;
        known.set(key, old);
        return old;
      }),
    ),
  }));
}
