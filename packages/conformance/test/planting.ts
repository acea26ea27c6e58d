import type { RenderedCandidate, RenderedRequest } from "../../../src/decisions/request.ts";
import type { EngineHealth, ScoredRequest } from "../../../src/inference/engine.ts";
import type { Fault } from "./faulty-service.ts";
import { on } from "./planted-fault.ts";
import { inner, readTree, type Tree, type TreeMap, writeTree } from "./tree.ts";

export const answersOf = (body: TreeMap): TreeMap[] =>
  [...inner(body, "answers").values()].filter((answer): answer is TreeMap => answer instanceof Map);

const ofType = (body: TreeMap, type: string) =>
  answersOf(body).filter((answer) => answer.get("type") === type);

/** Changes each answer, or each of a type. */
export const eachAnswer = (change: (answer: TreeMap) => void): Fault =>
  on.answer((body) => answersOf(body).forEach(change));

export const eachOf = (type: string, change: (answer: TreeMap) => void): Fault =>
  on.answer((body) => ofType(body, type).forEach(change));

/** Changes the numbers by label of each answer of a type: its scores, then its probabilities. */
export const eachColumn = (type: string, change: (column: TreeMap) => void): Fault =>
  eachOf(type, (answer) => {
    for (const member of ["scores", "probabilities"]) change(inner(answer, member));
  });

export const eachRow = (change: (row: TreeMap) => void): Fault =>
  on.answer((body) => rowsOf(body).forEach(change));

export const rowsOf = (body: TreeMap): TreeMap[] => {
  const ranked = body.get("ranked");
  return Array.isArray(ranked) ? ranked.filter((row): row is TreeMap => row instanceof Map) : [];
};

export const setRows = (body: TreeMap, rows: readonly Tree[]) => {
  if (body.has("ranked")) body.set("ranked", [...rows]);
};

/** A score cache whose key is made of less than the pair. */
export function cachedBy(key: (state: string, question: string, candidate: string) => string): Fault {
  const known = new Map<string, number>();
  return on.scores((scored, request) => ({
    ...scored,
    scores: scored.scores.map((scores, index) => {
      const { question, candidates } = request.questions[index] ?? {
        question: request.state,
        candidates: [],
      };
      return scores.map((score, place) => {
        const at = key(request.state.text, question.text, candidates[place]?.text ?? "");
        const old = known.get(at) ?? score;
        known.set(at, old);
        return old;
      });
    }),
  }));
}

export const tokens = (count: (scored: ScoredRequest, request: RenderedRequest) => number): Fault =>
  on.scores((scored, request) => ({ ...scored, inputTokens: count(scored, request) }));

/** The object or array that a text holds, as some libraries read it at once. */
export const readHeld = (text: string): Tree => {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    JSON.parse(text);
    return readTree(text);
  } catch {
    return text;
  }
};

export const markEdges = (text: string) => (text.trim() === "" ? text : text.replace(/^\s|\s$/g, "_"));

/** Changes a request that is JSON; leaves any other as it is. */
export function edit(change: (body: TreeMap) => void): Fault {
  return on.request((text) => {
    try {
      const tree = readTree(text);
      if (!(tree instanceof Map)) return text;
      const before = writeTree(tree);
      change(tree);
      const after = writeTree(tree);
      return after === before ? text : after; // digits and the like are lost on the way
    } catch {
      return text;
    }
  });
}

export const questionsOf = (body: TreeMap): TreeMap[] =>
  [...inner(body, "questions").values()].filter((question): question is TreeMap => question instanceof Map);

/** Changes each question of a request. */
export const editQuestions = (change: (question: TreeMap) => void): Fault =>
  edit((body) => {
    for (const question of questionsOf(body)) change(question);
  });

/** Shows the model other texts of candidates. */
export function showing(textOf: (candidate: RenderedCandidate) => string): Fault {
  return on.texts((request) => ({
    ...request,
    questions: request.questions.map((question) => ({
      ...question,
      candidates: question.candidates.map((candidate) => ({ ...candidate, text: textOf(candidate) })),
    })),
  }));
}

export function lengthOf(value: Tree | undefined): number {
  return Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0;
}

export function pairsOf(body: TreeMap): number {
  return questionsOf(body).reduce(
    (sum, question) => sum + Math.max(2, lengthOf(question.get("criteria"))),
    0,
  );
}

/** Refuses what the service would have answered. */
export function refuseWhen(isRefused: (body: TreeMap) => boolean): NonNullable<Fault["reply"]> {
  return (reply, { body }) => {
    if (reply.status !== 200 || body.byteLength === 0) return reply;
    const tree = readTree(Buffer.from(body).toString("utf8"));
    if (!(tree instanceof Map) || !isRefused(tree)) return reply;
    const detail = [{ loc: ["body"], msg: "Expected something else, got this.", type: "wrong_type" }];
    return {
      ...reply,
      status: 422,
      headers: { "content-type": "application/json; charset=utf-8" },
      body: JSON.stringify({ detail }),
    };
  };
}

export function refusing(isRefused: (body: TreeMap) => boolean): Fault {
  return { reply: refuseWhen(isRefused) };
}

export const counters = (
  change: (counters: EngineHealth["counters"]) => Partial<EngineHealth["counters"]>,
): Fault => ({
  health: (health) => ({ ...health, counters: { ...health.counters, ...change(health.counters) } }),
});

/** Changes each score that the model gave. */
export const eachScore = (
  change: (
    score: number,
    at: { readonly index: number; readonly place: number; readonly count: number },
  ) => number,
): Fault =>
  on.scores((scored) => ({
    ...scored,
    scores: scored.scores.map((row, place) =>
      row.map((score, index) => change(score, { index, place, count: row.length })),
    ),
  }));
