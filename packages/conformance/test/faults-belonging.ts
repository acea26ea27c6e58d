import type { IncomingMessage, ServerResponse } from "node:http";
import { REQUEST_LIMITS } from "../../../src/decisions/request.ts";
import type { ScoredRequest } from "../../../src/inference/engine.ts";
import { type Fault, KEY } from "./faulty-service.ts";
import { faults, keyedFaults, on, type PlantedFault } from "./planted-fault.ts";
import { cachedBy, markEdges, readHeld, tokens } from "./planting.ts";
import { authorization, giveKey, servedDocument } from "./planting-http.ts";
import { inner, type Tree, type TreeMap, writeTree } from "./tree.ts";

const { maxCandidates } = REQUEST_LIMITS;

/** Swaps the answers of questions of one type. */
const turnAnswers = (type: string, isMeant: (count: number) => boolean = (count) => count > 1): Fault =>
  on.answer((body) => {
    const answers = inner(body, "answers");
    const names = [...answers.keys()].filter((name) => inner(answers, name).get("type") === type);
    const found = names.map((name) => answers.get(name) ?? null);
    if (!isMeant(names.length)) return;
    for (const [index, name] of names.entries()) answers.set(name, found[(index + 1) % found.length] ?? null);
  });

const pairsOf = ({ scores, cachedPairs }: ScoredRequest) =>
  Math.max(1, scores.reduce((sum, { length }) => sum + length, 0) - cachedPairs);

/** Changes strings of a request at the places named. */
function strings(
  places: readonly ("instructions" | "criteria" | "candidates" | "question")[],
  to: (text: string) => Tree,
): Fault {
  const change = (value: Tree): Tree => {
    if (typeof value === "string") return to(value);
    if (Array.isArray(value)) return value.map(change);
    if (value instanceof Map) return new Map([...value].map(([name, member]) => [name, change(member)]));
    return value;
  };
  const changeIn = (map: TreeMap) => {
    for (const place of places) if (map.has(place)) map.set(place, change(map.get(place) ?? null));
  };
  return on.request((text) => {
    const body = readHeld(text);
    if (!(body instanceof Map)) return text;
    const before = writeTree(body);
    changeIn(body);
    for (const question of inner(body, "questions").values()) if (question instanceof Map) changeIn(question);
    const after = writeTree(body);
    return after === before ? text : after; // digits and the like are lost on the way
  });
}
/** Candidates as they came, by their trimmed texts: the texts for the model no longer have white space around them. */
const sentCandidates = new Map<string, string>();

function keepCandidates(text: string): string {
  const body = readHeld(text);
  const candidates = body instanceof Map ? (body.get("candidates") ?? body.get("answers")) : undefined;
  const sent =
    candidates instanceof Map ? [...candidates.values()] : Array.isArray(candidates) ? candidates : [];
  for (const one of sent) if (typeof one === "string") sentCandidates.set(one.trim(), one);
  return text;
}

/** A correct 401, but only after the whole body has arrived. */
const late: Fault = on.early((request: IncomingMessage, response: ServerResponse) => {
  if (request.method !== "POST" || request.headers.authorization === `Bearer ${KEY}`) return false;
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > 2 ** 21) return false;
  request.resume();
  request.on("end", () =>
    response
      .writeHead(401, {
        "content-type": "application/json",
        "www-authenticate": "Bearer",
        "x-request-id": "late-1",
      })
      .end('{"detail":"A key is needed."}'),
  );
  return true;
});

/** Correct answers, keys, texts and counts that belong to something else. */
export const BELONGING_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "two yes/no answers exchanged: scores.own-question, scores.own-question.bits": turnAnswers(
      "noul",
      (count) => count === 2,
    ),
    "yes/no answers moved on by one: scores.own-question, scores.own-question.bits": turnAnswers("noul"),
    "two choices with the same labels exchanged: scores.own-question, scores.own-question.bits":
      turnChoices(),
    "rubrics of as many levels exchanged: scores.own-question, scores.own-question.bits": turnAnswers(
      "score",
      (count) => count === 4,
    ),
    "answers by the alphabet of the names: scores.own-question, scores.own-question.bits": on.answer(
      (body) => {
        const answers = inner(body, "answers");
        const types = [...answers.values()].map((answer) =>
          answer instanceof Map ? answer.get("type") : null,
        );
        if (new Set(types).size > 1 || types[0] !== "noul") return;
        const found = [...answers.values()];
        for (const [index, name] of [...answers.keys()].toSorted().entries())
          answers.set(name, found[index] ?? null);
        const order = [...answers.keys()];
        for (const name of order) answers.set(name, answers.get(name) ?? null);
      },
    ),
    "noul is a boolean in the document: docs.openapi-examples": servedDocument(
      (schemas) =>
        void inner(schemas, "NoulAnswer", "properties").set("noul", new Map([["type", "boolean"]])),
    ),
    "usage has another member in the document: docs.openapi-examples": servedDocument((schemas) => {
      inner(schemas, "Usage", "properties").set("cache_hits", new Map([["type", "integer"]]));
      inner(schemas, "Usage").set("required", ["input_tokens", "cache_hits"]);
    }),
    "a level less at most in the document: docs.openapi-schemas": servedDocument((schemas) => {
      for (const schema of schemas.values())
        if (schema instanceof Map)
          for (const property of inner(schema, "properties").values())
            if (property instanceof Map && property.get("maxItems") === maxCandidates)
              property.set("maxItems", maxCandidates - 1);
    }),
    "instructions that hold JSON are read: texts.only-state-holds-json": strings(["instructions"], readHeld),
    "descriptions that hold JSON are read: texts.only-state-holds-json": strings(["criteria"], readHeld),
    "the question of a ranking that holds JSON is read: texts.only-state-holds-json": strings(
      ["question"],
      readHeld,
    ),
    "descriptions that are not trimmed: texts.trimmed": strings(["criteria"], markEdges),
    "instructions that are not trimmed: texts.trimmed": strings(["instructions"], markEdges),
    "candidates that are not trimmed: texts.trimmed-candidates": {
      request: keepCandidates,
      texts: (request) => ({
        ...request,
        questions: request.questions.map((question) => ({
          ...question,
          candidates: question.candidates.map((one) => ({
            ...one,
            text: markEdges(
              (question.form === undefined ? sentCandidates.get(one.text) : undefined) ?? one.text,
            ),
          })),
        })),
      }),
    },
    "tokens of each pair rounded up to eight: usage.steps": tokens((scored) => {
      const unit = 8 * pairsOf(scored);
      return Math.ceil(scored.inputTokens / unit) * unit;
    }),
    "at least 64 tokens for a pair: usage.steps": tokens((scored) =>
      Math.max(scored.inputTokens, 64 * pairsOf(scored)),
    ),
    "a token more for each pair of an answer to questions: usage.both-operations, texts.labels": tokens(
      (scored, { questions }) => {
        const isRanking = questions.some(({ form }) => form === undefined);
        return scored.inputTokens + (isRanking ? 0 : pairsOf(scored));
      },
    ),
    "a cache by the first 64 characters of a state: scores.whole-state": cachedBy((state, ...others) =>
      [state.slice(0, 64), ...others].join("\n"),
    ),
    "a cache by the last 64 characters of a state: scores.whole-state": cachedBy((state, ...others) =>
      [state.slice(-64), ...others].join("\n"),
    ),
    "a cache by words in any order: scores.whole-state": cachedBy((state, ...others) =>
      [state.split(" ").toSorted().join(" "), ...others].join("\n"),
    ),
    "a cache by the first 1,024 characters of a question: scores.whole-question": cachedBy(
      (state, question, candidate) => [state, question.slice(0, 1024), candidate].join("\n"),
    ),
    "a cache by the first 64 characters of instructions: scores.whole-question": cachedBy(
      (state, question, candidate) => [state, question.slice(0, 64), candidate].join("\n"),
    ),
    "a cache by the first 128 characters of a candidate: scores.whole-candidate": cachedBy(
      (state, question, candidate) => [state, question, candidate.slice(0, 128)].join("\n"),
    ),
  }),
  ...keyedFaults({
    "a key in other capitals: auth.wrong": authorization(
      (given) => given.toLowerCase() === `bearer ${KEY}`.toLowerCase(),
    ),
    "any key of the same length: auth.wrong": authorization(
      (given) => given.length === `Bearer ${KEY}`.length,
    ),
    "a key whose first eight characters are right: auth.wrong": authorization((given) =>
      given.startsWith(`Bearer ${KEY.slice(0, 8)}`),
    ),
    "the key with something behind it: auth.wrong": authorization((given) =>
      given.startsWith(`Bearer ${KEY} `),
    ),
  }),
  ...keyedFaults(
    {
      // by chance, others meet a connection that is known
      "a key that the connection brought before: auth.each-request": on.early((request) => {
        const socket = request.socket as typeof request.socket & { isKnown?: boolean };
        if (request.headers.authorization === `Bearer ${KEY}`) socket.isKnown = true;
        else if (socket.isKnown && request.headers.authorization === undefined) giveKey(request);
        return false;
      }),
    },
    { only: ["auth.each-request"] },
  ),
  ...keyedFaults(
    {
      "the key checked when the body has come: auth.before-body-comes": late,
    },
    { only: ["auth.before-body-comes", "auth.missing", "auth.wrong"] },
  ),
  ...faults(
    {
      "a cache by the length of a state: scores.own-request": cachedBy((state, ...others) =>
        [state.length, ...others].join("\n"),
      ),
    },
    { only: ["scores.whole-state", "scores.own-request"] },
  ),
  ...faults(
    {
      "a cache that forgets the question: scores.again-elsewhere, scores.own-question.bits": cachedBy(
        (state, _question, candidate) => [state, candidate].join("\n"),
      ),
    },
    { only: ["scores.again-elsewhere", "scores.own-question", "scores.depend-on-all"] },
  ),
  ...faults(
    {
      "a confidence that is wrong for six candidates only: systemone.every-answer": on.answer((body) => {
        for (const answer of inner(body, "answers").values())
          if (answer instanceof Map && inner(answer, "probabilities").size === 6)
            answer.set("confidence", 0.5);
      }),
    },
    { only: ["systemone.every-answer", "request.descriptions", "texts"] },
  ),
  ...faults(
    {
      "rankings of six from the lowest score: rank.every-answer": on.answer((body) => {
        const ranked = body.get("ranked");
        if (Array.isArray(ranked) && ranked.length === 6) ranked.reverse();
      }),
    },
    { only: ["rank.every-answer", "texts.labels"] },
  ),
];

function turnChoices(): Fault {
  return on.answer((body) => {
    const answers = inner(body, "answers");
    const [one, other, ...more] = [...answers.keys()];
    if (one === undefined || other === undefined || more.length > 0) return;
    const labels = (name: string) => [...inner(answers, name, "probabilities").keys()].join();
    const first = inner(answers, one);
    if (first.get("type") !== "choice" || labels(one) !== labels(other)) return;
    const second = inner(answers, other);
    answers.set(one, second);
    answers.set(other, first);
  });
}
