import { REQUEST_LIMITS } from "../../../src/decisions/limits.ts";
import type { RenderedQuestion } from "../../../src/decisions/rendered.ts";
import type { Fault } from "./faulty-service.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { cachedBy, eachAnswer, eachScore, edit, rowsOf, showing } from "./planting.ts";
import { inner, readTree } from "./tree.ts";

const { maxCandidates } = REQUEST_LIMITS;

/** Adds to all scores of an answer: its probabilities stay right. */
const shiftWhen = (isMeant: (request: string) => boolean): Fault => ({
  answer: (body, operation, request) => {
    if (!isMeant(request)) return;
    const shift = eachAnswer((answer) => {
      for (const [name, score] of inner(answer, "scores"))
        inner(answer, "scores").set(name, Number(score) + 0.01);
    });
    shift.answer?.(body, operation, request);
    for (const row of rowsOf(body)) row.set("score", Number(row.get("score")) + 0.01);
  },
});
const membersOf = (text: string): string[] => {
  const body = readTree(text);
  return body instanceof Map ? [...body.keys()] : [];
};
/** Prepends to each question, or candidate, the previous one. */
const joined = <T extends { readonly text: string }>(texts: readonly T[]): T[] =>
  texts.map((one, index) => ({ ...one, text: `${texts[index - 1]?.text ?? ""} ${one.text}`.trim() }));
const withQuestions = (change: (questions: readonly RenderedQuestion[]) => RenderedQuestion[]): Fault => ({
  texts: (request) => ({ ...request, questions: change(request.questions) }),
});
let isAfterRefusal = false;
let running = 0;

/** Scores that depend on only a part of the pair, or on more than the pair. */
export const SCORE_FAULTS: readonly PlantedFault[] = [
  {
    name: "a cache by the first 1,024 characters of a state",
    fault: cachedBy((state, ...others) => [state.slice(0, 1024), ...others].join("\n")),
    fails: ["scores.whole-state"],
  },
  {
    name: "a cache by both ends of a state",
    fault: cachedBy((state, ...others) => [state.slice(0, 256), state.slice(-256), ...others].join("\n")),
    fails: ["scores.whole-state"],
  },
  {
    name: "a cache by the last 64 characters of a question",
    fault: cachedBy((state, question, candidate) => [state, question.slice(-64), candidate].join("\n")),
    fails: ["scores.whole-instructions", "scores.whole-question"],
  },
  {
    name: "a cache by both ends of a candidate",
    fault: cachedBy((state, question, text) =>
      [state, question, text.slice(0, 64), text.slice(-64)].join("\n"),
    ),
    fails: ["scores.whole-candidate", "scores.whole-description"],
  },
  {
    name: "a cache without punctuation",
    fault: cachedBy((...texts) => texts.map((text) => text.replaceAll(/[^\p{L}\p{N}\s]/gu, "")).join("\n")),
    fails: [
      "scores.whole-candidate",
      "scores.whole-description",
      "scores.whole-instructions",
      "scores.whole-question",
      "scores.whole-state",
      "texts.only-state-holds-json",
    ],
  },
  {
    name: "a cache with all digits alike",
    fault: cachedBy((...texts) => texts.map((text) => text.replaceAll(/\d/g, "0")).join("\n")),
    fails: ["scores.own-request", "scores.own-request.bits", "texts.differ"],
  },
  {
    name: "a cache by the set of words of a state",
    fault: cachedBy((state, ...others) => [[...new Set(state.split(/\s+/))].join(" "), ...others].join("\n")),
    fails: ["scores.whole-state"],
  },
  {
    name: "a cache by question and candidate in one text",
    fault: cachedBy((state, question, candidate) => [state, question + candidate].join("\n")),
    fails: ["scores.borders"],
  },
  {
    name: "a cache by state and question in one text",
    fault: cachedBy((state, question, candidate) => [state + question, candidate].join("\n")),
    fails: ["scores.borders"],
  },
  {
    name: "a cache that forgets the state",
    fault: cachedBy((_state, ...others) => others.join("\n")),
    fails: [
      "scores.again-elsewhere",
      "scores.depend-on-all",
      "scores.own-request",
      "scores.own-request.bits",
      "scores.whole-state",
      "texts.differ",
    ],
  },
  {
    name: "a cache by labels",
    fault: cachedByLabels(),
    fails: [
      "scores.candidates",
      "scores.candidates.bits",
      "scores.own-question",
      "scores.own-question.bits",
      "scores.whole-description",
    ],
  },
  {
    name: "the name of a question shown",
    fault: {
      texts: (request) => ({
        ...request,
        questions: request.questions.map((one) => ({
          ...one,
          question:
            one.question.loc[1] === "questions"
              ? { ...one.question, text: `${String(one.question.loc[2])}: ${one.question.text}` }
              : one.question,
        })),
      }),
    },
    fails: [
      "scores.names",
      "scores.names.bits",
      "scores.own-question",
      "scores.own-question.bits",
      "scores.rank-as-rubric",
      "texts.noul-default",
    ],
  },
  {
    name: "scores that are off after a refused request",
    fault: {
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
    fails: ["scores.own-request.bits"],
    only: ["scores.own-request.bits"],
  },
  {
    name: "scores that are off while another request runs",
    fault: {
      request: (text) => {
        running += 1;
        return text;
      },
      takesMs: 50, // so that requests sent together overlap, however fast or slow the machine
      scores: (scored) => {
        const shift = running > 1 ? 1e-3 : 0;
        running -= 1;
        return { ...scored, scores: scored.scores.map((row) => row.map((score) => score + shift)) };
      },
      reply: (reply) => {
        if (reply.status !== 200) running = 0; // what is refused has no scores
        return reply;
      },
    },
    fails: ["scores.own-request.bits"],
    only: ["scores.own-request.bits"],
  },
  {
    name: "a question that sees the one before",
    fault: withQuestions((questions) => {
      const texts = joined(questions.map(({ question }) => question));
      return questions.map((one, index) => ({ ...one, question: texts[index] ?? one.question }));
    }),
    fails: [
      "scores.alone",
      "scores.alone.bits",
      "scores.company",
      "scores.company.bits",
      "scores.concurrency",
      "scores.concurrency.bits",
      "scores.order",
      "scores.order.bits",
    ],
  },
  {
    name: "a candidate that sees the one before",
    fault: withQuestions((questions) =>
      questions.map((one) => ({ ...one, candidates: joined(one.candidates) })),
    ),
    fails: [
      "scores.candidates",
      "scores.candidates.bits",
      "scores.criteria-order",
      "scores.criteria-order.bits",
      "usage.additive",
    ],
  },
  {
    name: "the second half of the most candidates scored like the first",
    fault: {
      scores: (scored) => ({
        ...scored,
        scores: scored.scores.map((row) =>
          row.map((score, index) => row[index % (maxCandidates / 2)] ?? score),
        ),
      }),
    },
    fails: ["scores.many-candidates", "scores.many-candidates.bits"],
  },
  {
    name: "scores rounded to two digits",
    fault: eachScore((score) => Math.round(score * 100) / 100),
    fails: ["arithmetic.precision"],
  },
  {
    name: "the middle of long states left out",
    fault: {
      texts: (request) => {
        const words = request.state.text.split(" ");
        if (words.length < 400) return request;
        return {
          ...request,
          state: { ...request.state, text: [...words.slice(0, 200), ...words.slice(-200)].join(" ") },
        };
      },
    },
    fails: ["limits.tokens.never-cut"],
  },
  {
    name: "long descriptions of levels cut off",
    fault: showing(({ loc, text }) => (typeof loc[4] === "number" ? text.slice(0, 300) : text)),
    fails: ["scores.whole-description"],
  },
  {
    name: "members of a state past twenty left out",
    fault: edit((body) => {
      const state = body.get("state");
      if (state instanceof Map) for (const name of [...state.keys()].slice(20)) state.delete(name);
      if (Array.isArray(state)) state.length = Math.min(state.length, 20);
    }),
    fails: ["scores.whole-structure"],
  },
  {
    name: "levels of a structured state past three left out",
    fault: edit((body) => {
      const cut = (value: Parameters<typeof inner>[0], depth: number): void => {
        const members = value instanceof Map ? [...value] : Array.isArray(value) ? [...value.entries()] : [];
        for (const [name, member] of members) {
          if (depth === 0 && value instanceof Map) value.set(String(name), "...");
          else if (depth === 0 && Array.isArray(value)) value[Number(name)] = "...";
          else cut(member, depth - 1);
        }
      };
      cut(body.get("state"), 3);
    }),
    fails: ["texts.structures"],
  },
  {
    name: "scores that depend on the number of questions",
    fault: {
      scores: (scored) => ({
        ...scored,
        scores: scored.scores.map((row) => row.map((score) => score + scored.scores.length * 1e-4)),
      }),
    },
    fails: ["scores.alone.bits", "scores.concurrency.bits", "scores.own-question.bits"],
  },
  {
    name: "scores that depend on the name of the model",
    fault: shiftWhen((text) => membersOf(text).includes("model")),
    fails: ["scores.spelling.bits"],
  },
  {
    name: "scores that depend on the order of a request's members",
    fault: shiftWhen((text) => !["state", "context"].includes(membersOf(text)[0] ?? "")),
    fails: ["scores.spelling.bits"],
  },
  {
    name: "scores that depend on the name of the state",
    fault: shiftWhen((text) => membersOf(text).includes("context")),
    fails: ["alias.answers", "alias.context", "alias.rank-null", "scores.spelling.bits"],
  },
];

/** Labels stand for the candidates' texts. */
function cachedByLabels(): Fault {
  const known = new Map<string, number>();
  return {
    scores: (scored, request) => ({
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
    }),
  };
}
