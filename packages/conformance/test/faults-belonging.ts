import type { IncomingMessage, ServerResponse } from "node:http";
import type { ScoredRequest } from "../../../src/inference/engine.ts";
import { type Fault, KEY } from "./faulty-service.ts";
import { faults, keyedFaults, on, type PlantedFault } from "./planted-fault.ts";
import { cachedBy, markEdges, readHeld, tokens } from "./planting.ts";
import { giveKey, servedDocument } from "./planting-http.ts";
import { inner, type Tree, type TreeMap, writeTree } from "./tree.ts";

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
    "yes/no answers moved on by one: scores.own-question, scores.own-question.bits": turnAnswers("noul"),
    "two choices with the same labels exchanged: scores.own-question, scores.own-question.bits":
      turnChoices(),
    "usage has another member in the document: docs.openapi-examples": servedDocument((schemas) => {
      inner(schemas, "Usage", "properties").set("cache_hits", new Map([["type", "integer"]]));
      inner(schemas, "Usage").set("required", ["input_tokens", "cache_hits"]);
    }),
    "instructions that hold JSON are read: texts.only-state-holds-json": strings(["instructions"], readHeld),
    "descriptions that hold JSON are read: texts.only-state-holds-json": strings(["criteria"], readHeld),
    "descriptions that are not trimmed: texts.trimmed": strings(["criteria"], markEdges),
    "instructions that are not trimmed: texts.trimmed": strings(["instructions"], markEdges),
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
    "a cache by the first 1,024 characters of a question: scores.whole-question": cachedBy(
      (state, question, candidate) => [state, question.slice(0, 1024), candidate].join("\n"),
    ),
    "a cache by the first 64 characters of instructions: scores.whole-question": cachedBy(
      (state, question, candidate) => [state, question.slice(0, 64), candidate].join("\n"),
    ),
  }),
  ...keyedFaults({}),
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
