import { type Fault, KEY } from "./faulty-service.ts";
import { faults, keyedFaults, on, type PlantedFault } from "./planted-fault.ts";
import { answersOf, counters, edit, questionsOf, refusing } from "./planting.ts";
import { early, health, refuse, refuseWhere, rewrite } from "./planting-http.ts";
import { inner, type Tree } from "./tree.ts";

const isText = (value: Tree | undefined) => typeof value === "string";
const criteria = (isMeant: (given: Tree) => boolean): Fault =>
  refusing((body) => questionsOf(body).some((question) => isMeant(question.get("criteria") ?? null)));
const outcomes = (given: Tree) => (given instanceof Map ? [...given.keys()].length : 0);
let isLeft = false;
let running = 0;

/** Faults that stop a server from being used at all, so only the clause of each is checked. */
export const LONE_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "a report that is a list: health.status": on.send((answer, { url }) =>
      rewrite(answer, url === "/health", () => "[]"),
    ),
    "a report of nothing but counters: health.metadata": health((body) => {
      for (const name of [...body.keys()]) if (!/_requests$|^model_batches$/.test(name)) body.delete(name);
    }),
    "answered requests counted as timed out: health.keeps-timed-out-requests": counters(({ completed }) => ({
      timedOut: completed,
    })),
    "another probabilities_source: systemone.probabilities-source": on.answer(
      (body) => void body.set("probabilities_source", "softmax"),
    ),
    "the tokens of requests that run together added up: usage.side-by-side": {
      takesMs: 50,
      request: (text) => {
        running += 1;
        return text;
      },
      scores: (scored) => ({ ...scored, inputTokens: scored.inputTokens * running }),
      reply: (reply) => {
        running -= 1;
        return reply;
      },
    },
    "other scores for a request that names the model: scores.spelling": on.answer(
      (body, _operation, request) => {
        for (const answer of request.includes('"model":') ? answersOf(body) : [])
          for (const [label, score] of inner(answer, "scores"))
            inner(answer, "scores").set(label, Number(score) + 5);
      },
    ),
    "a question of its own for a ranking without: rank.default-question": edit((body) => {
      if (body.has("candidates") && !body.has("question")) body.set("question", "Which?");
    }),
    "instructions must be texts: request.instructions.any-json": refusing((body) =>
      questionsOf(body).some((question) => !isText(question.get("instructions"))),
    ),
    "a noul without criteria refused: request.noul-criteria": criteria((given) => given === null),
    "one outcome refused: request.noul-criteria-partly": criteria((given) => outcomes(given) === 1),
    "descriptions must be texts: request.descriptions.any-json": criteria(
      (given) => Array.isArray(given) && !given.every(isText),
    ),
    "a mapping of candidates refused: request.rank-candidates": refusing(
      (body) => body.get("candidates") instanceof Map,
    ),
    "a blank state refused: request.blank-one": refusing((body) => body.get("state") === ""),
    "a key refused where none is configured: auth.none-configured": refuseWhere(
      401,
      ({ headers }) => headers.authorization !== undefined,
    ),
    "rankings are not there: routes.operations": refuseWhere(404, ({ url }) => url === "/v1/rank"),
    "JSON refused: media.json": refuseWhere(415, ({ headers }) => headers["content-type"] !== undefined),
    "/redoc is not there: docs.redoc": refuseWhere(404, ({ url }) => url === "/redoc"),
    "a body behind the head of an answer to HEAD: wire.head-bodies": early(
      ({ method }) => method === "HEAD",
      (response) => response.socket?.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
    ),
    "no answers after a caller has left: wire.half-body": on.early((request, response) => {
      request.on("close", () => {
        if (!request.complete) isLeft = true;
      });
      if (isLeft && request.method === "POST") refuse(response, 500);
      return isLeft && request.method === "POST";
    }),
  }),
  ...keyedFaults({
    "the right key refused: auth.accepted": refuseWhere(
      401,
      ({ headers }) => headers.authorization === `Bearer ${KEY}`,
    ),
  }),
].map((fault) => ({ ...fault, only: fault.breaks }));
