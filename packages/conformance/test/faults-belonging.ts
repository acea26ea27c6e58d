import type { IncomingMessage, ServerResponse } from "node:http";
import { REQUEST_LIMITS } from "../../../src/decisions/request.ts";
import type { ScoredRequest } from "../../../src/inference/engine.ts";
import { type Fault, KEY } from "./faulty-service.ts";
import { type PlantedFault, plant } from "./planted-fault.ts";
import { cachedBy, markEdges, readHeld, tokens } from "./planting.ts";
import { authorization, giveKey, servedDocument } from "./planting-http.ts";
import { inner, type Tree, type TreeMap, writeTree } from "./tree.ts";

const { maxCandidates } = REQUEST_LIMITS;

/** Swaps the answers of questions of one type. */
const turnAnswers = (type: string, isMeant: (count: number) => boolean = (count) => count > 1): Fault => ({
  answer: (body) => {
    const answers = inner(body, "answers");
    const names = [...answers.keys()].filter((name) => inner(answers, name).get("type") === type);
    const found = names.map((name) => answers.get(name) ?? null);
    if (!isMeant(names.length)) return;
    for (const [index, name] of names.entries()) answers.set(name, found[(index + 1) % found.length] ?? null);
  },
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
  return {
    request: (text) => {
      const body = readHeld(text);
      if (!(body instanceof Map)) return text;
      const before = writeTree(body);
      changeIn(body);
      for (const question of inner(body, "questions").values())
        if (question instanceof Map) changeIn(question);
      const after = writeTree(body);
      return after === before ? text : after; // digits and the like are lost on the way
    },
  };
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
const late: Fault = {
  early: (request: IncomingMessage, response: ServerResponse) => {
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
  },
};

const QUESTIONS_APART = ["scores.own-question", "scores.own-question.bits"];

/** Correct answers, keys, texts and counts that belong to something else. */
export const BELONGING_FAULTS: readonly PlantedFault[] = [
  plant(
    "two yes/no answers exchanged",
    QUESTIONS_APART,
    turnAnswers("noul", (count) => count === 2),
  ),
  plant("yes/no answers moved on by one", QUESTIONS_APART, turnAnswers("noul")),
  plant("two choices with the same labels exchanged", QUESTIONS_APART, turnChoices()),
  plant(
    "rubrics of as many levels exchanged",
    QUESTIONS_APART,
    turnAnswers("score", (count) => count === 4),
  ),
  plant("answers by the alphabet of the names", QUESTIONS_APART, {
    answer: (body) => {
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
  }),
  plant(
    "a key in other capitals",
    ["auth.wrong"],
    authorization((given) => given.toLowerCase() === `bearer ${KEY}`.toLowerCase()),
    { hasKey: true },
  ),
  plant(
    "any key of the same length",
    ["auth.wrong"],
    authorization((given) => given.length === `Bearer ${KEY}`.length),
    { hasKey: true },
  ),
  plant(
    "a key whose first eight characters are right",
    ["auth.wrong"],
    authorization((given) => given.startsWith(`Bearer ${KEY.slice(0, 8)}`)),
    { hasKey: true },
  ),
  plant(
    "the key with something behind it",
    ["auth.wrong"],
    authorization((given) => given.startsWith(`Bearer ${KEY} `)),
    { hasKey: true },
  ),
  // by chance, others meet a connection that is known
  plant(
    "a key that the connection brought before",
    ["auth.each-request"],
    {
      early: (request) => {
        const socket = request.socket as typeof request.socket & { isKnown?: boolean };
        if (request.headers.authorization === `Bearer ${KEY}`) socket.isKnown = true;
        else if (socket.isKnown && request.headers.authorization === undefined) giveKey(request);
        return false;
      },
    },
    { hasKey: true, only: ["auth.each-request"] },
  ),
  plant("the key checked when the body has come", ["auth.before-body-comes"], late, {
    hasKey: true,
    only: ["auth.before-body-comes", "auth.missing", "auth.wrong"],
  }),
  plant(
    "noul is a boolean in the document",
    ["docs.openapi-examples"],
    servedDocument(
      (schemas) =>
        void inner(schemas, "NoulAnswer", "properties").set("noul", new Map([["type", "boolean"]])),
    ),
  ),
  plant(
    "usage has another member in the document",
    ["docs.openapi-examples"],
    servedDocument((schemas) => {
      inner(schemas, "Usage", "properties").set("cache_hits", new Map([["type", "integer"]]));
      inner(schemas, "Usage").set("required", ["input_tokens", "cache_hits"]);
    }),
  ),
  plant(
    "a level less at most in the document",
    ["docs.openapi-schemas"],
    servedDocument((schemas) => {
      for (const schema of schemas.values())
        if (schema instanceof Map)
          for (const property of inner(schema, "properties").values())
            if (property instanceof Map && property.get("maxItems") === maxCandidates)
              property.set("maxItems", maxCandidates - 1);
    }),
  ),
  plant(
    "instructions that hold JSON are read",
    ["texts.only-state-holds-json"],
    strings(["instructions"], readHeld),
  ),
  plant(
    "descriptions that hold JSON are read",
    ["texts.only-state-holds-json"],
    strings(["criteria"], readHeld),
  ),
  plant(
    "the question of a ranking that holds JSON is read",
    ["texts.only-state-holds-json"],
    strings(["question"], readHeld),
  ),
  plant("descriptions that are not trimmed", ["texts.trimmed"], strings(["criteria"], markEdges)),
  plant("instructions that are not trimmed", ["texts.trimmed"], strings(["instructions"], markEdges)),
  plant("candidates that are not trimmed", ["texts.trimmed-candidates"], {
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
  }),
  plant(
    "tokens of each pair rounded up to eight",
    ["usage.steps"],
    tokens((scored) => {
      const unit = 8 * pairsOf(scored);
      return Math.ceil(scored.inputTokens / unit) * unit;
    }),
  ),
  plant(
    "a token more for each pair of an answer to questions",
    ["usage.both-operations", "texts.labels"],
    tokens((scored, { questions }) => {
      const isRanking = questions.some(({ form }) => form === undefined);
      return scored.inputTokens + (isRanking ? 0 : pairsOf(scored));
    }),
  ),
  plant(
    "at least 64 tokens for a pair",
    ["usage.steps"],
    tokens((scored) => Math.max(scored.inputTokens, 64 * pairsOf(scored))),
  ),
  plant(
    "a cache by the first 64 characters of a state",
    ["scores.whole-state"],
    cachedBy((state, ...others) => [state.slice(0, 64), ...others].join("\n")),
  ),
  plant(
    "a cache by the last 64 characters of a state",
    ["scores.whole-state"],
    cachedBy((state, ...others) => [state.slice(-64), ...others].join("\n")),
  ),
  plant(
    "a cache by the first 1,024 characters of a question",
    ["scores.whole-question"],
    cachedBy((state, question, candidate) => [state, question.slice(0, 1024), candidate].join("\n")),
  ),
  plant(
    "a cache by the first 64 characters of instructions",
    ["scores.whole-question"],
    cachedBy((state, question, candidate) => [state, question.slice(0, 64), candidate].join("\n")),
  ),
  plant(
    "a cache by the first 128 characters of a candidate",
    ["scores.whole-candidate"],
    cachedBy((state, question, candidate) => [state, question, candidate.slice(0, 128)].join("\n")),
  ),
  plant(
    "a cache by words in any order",
    ["scores.whole-state"],
    cachedBy((state, ...others) => [state.split(" ").toSorted().join(" "), ...others].join("\n")),
  ),
  plant(
    "a cache by the length of a state",
    ["scores.own-request"],
    cachedBy((state, ...others) => [state.length, ...others].join("\n")),
    { only: ["scores.whole-state", "scores.own-request"] },
  ),
  plant(
    "a cache that forgets the question",
    ["scores.again-elsewhere", "scores.own-question.bits"],
    cachedBy((state, _question, candidate) => [state, candidate].join("\n")),
    { only: ["scores.again-elsewhere", "scores.own-question", "scores.depend-on-all"] },
  ),
  plant(
    "a confidence that is wrong for six candidates only",
    ["systemone.every-answer"],
    {
      answer: (body) => {
        for (const answer of inner(body, "answers").values())
          if (answer instanceof Map && inner(answer, "probabilities").size === 6)
            answer.set("confidence", 0.5);
      },
    },
    { only: ["systemone.every-answer", "request.descriptions", "texts"] },
  ),
  plant(
    "rankings of six from the lowest score",
    ["rank.every-answer"],
    {
      answer: (body) => {
        const ranked = body.get("ranked");
        if (Array.isArray(ranked) && ranked.length === 6) ranked.reverse();
      },
    },
    { only: ["rank.every-answer", "texts.labels"] },
  ),
];

function turnChoices(): Fault {
  return {
    answer: (body) => {
      const answers = inner(body, "answers");
      const [one, other, ...more] = [...answers.keys()];
      if (one === undefined || other === undefined || more.length > 0) return;
      const labels = (name: string) => [...inner(answers, name, "probabilities").keys()].join();
      const first = inner(answers, one);
      if (first.get("type") !== "choice" || labels(one) !== labels(other)) return;
      const second = inner(answers, other);
      answers.set(one, second);
      answers.set(other, first);
    },
  };
}
