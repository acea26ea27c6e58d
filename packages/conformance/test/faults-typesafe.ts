import type { IncomingMessage } from "node:http";
import { REQUEST_LIMITS } from "../../../src/decisions/request.ts";
import type { Fault } from "./faulty-service.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { eachAnswer, eachOf, edit, editQuestions, lengthOf, questionsOf } from "./planting.ts";
import { beforehand, early, errors, header, json, refuse, statusWhere } from "./planting-http.ts";
import { inner, numbersOf, readTree, reorder, type TreeMap } from "./tree.ts";

const { maxQuestions, maxCandidates, maxPairs } = REQUEST_LIMITS;

/** Refuses requests that are meant with 422. */
const refusing = (isRefused: (body: TreeMap) => boolean): Fault =>
  on.reply((reply, { body }) => {
    if (reply.status !== 200 || body.byteLength === 0) return reply;
    const tree = readTree(Buffer.from(body).toString("utf8"));
    if (!(tree instanceof Map) || !isRefused(tree)) return reply;
    return {
      ...reply,
      status: 422,
      body: '{"detail":[{"loc":["body"],"msg":"Expected another.","type":"wrong_type"}]}',
    };
  });
const criteria = (body: TreeMap) => questionsOf(body).map((question) => question.get("criteria"));
const shares = (answer: TreeMap) => numbersOf(inner(answer, "probabilities"));
const encoded = (request: IncomingMessage, coding: string) => request.headers["content-encoding"] === coding;

/** Faults of the TypeSafe dialect. */
export const TYPESAFE_FAULTS: readonly PlantedFault[] = faults({
  "typesafe: probabilities with three digits: typesafe.answers.rounded": eachAnswer((answer) => {
    for (const [name, share] of inner(answer, "probabilities"))
      inner(answer, "probabilities").set(name, Number((Number(share) * 0.999).toFixed(3)));
  }),
  "typesafe: a noul of four digits: typesafe.answers.rounded": eachOf(
    "noul",
    (a) => void a.set("noul", Number(a.get("noul")) * 0.9999),
  ),
  "typesafe: confidence of a choice is the largest probability: typesafe.answers.choice": eachOf(
    "choice",
    (a) => void a.set("confidence", Math.max(...shares(a))),
  ),
  "typesafe: confidence of a score is the largest probability: typesafe.answers.score": eachOf(
    "score",
    (a) => void a.set("confidence", Math.max(...shares(a))),
  ),
  "typesafe: scores from 0 to 1: typesafe.answers.score": eachOf("score", (answer) => {
    const last = shares(answer).length - 1;
    if (last > 0) answer.set("score", Number((Number(answer.get("score")) / last).toFixed(2)));
  }),
  "typesafe: confidence of a single option is 0: typesafe.answers.certain": eachAnswer(
    (a) => void (shares(a).length === 1 && a.set("confidence", 0)),
  ),
  "typesafe: a noul has a confidence: typesafe.answers.noul": eachOf(
    "noul",
    (a) => void a.set("confidence", a.get("noul") ?? 0),
  ),
  "typesafe: structured levels of a legend as text: typesafe.answers.legend": eachOf("score", (answer) => {
    for (const [name, level] of inner(answer, "legend"))
      if (level instanceof Map || Array.isArray(level)) inner(answer, "legend").set(name, "text");
  }),
  "typesafe: levels of a legend trimmed: typesafe.answers.legend-exact": eachOf("score", (answer) => {
    for (const [name, level] of inner(answer, "legend"))
      if (typeof level === "string") inner(answer, "legend").set(name, level.trim());
  }),
  "typesafe: a score of the rounded probabilities: typesafe.answers.exact": eachOf("score", (answer) => {
    const sum = shares(answer).reduce((all, share, level) => all + level * share, 0);
    answer.set("score", Number(sum.toFixed(2)));
  }),
  "typesafe: answers by the alphabet: typesafe.answers.order": on.answer((body) =>
    reorder(inner(body, "answers"), (names) => names.toSorted()),
  ),
  "typesafe: of tied options the last is the choice: typesafe.answers.ties": eachOf("choice", (answer) => {
    const best = Math.max(...shares(answer));
    answer.set(
      "choice",
      [...inner(answer, "probabilities")].findLast(([, share]) => share === best)?.[0] ?? "",
    );
  }),
  "typesafe: the model that was asked for: typesafe.answers.model": on.answer((body, _operation, request) => {
    const asked = /"model": ?"([^"]+)"/.exec(request)?.[1];
    if (asked !== undefined && body.has("answers")) body.set("model", asked);
  }),
  "typesafe: instructions required: typesafe.answers.order, typesafe.requests.accepted, typesafe.usage":
    refusing((body) => questionsOf(body).some((question) => !question.has("instructions"))),
  "typesafe: one option refused: typesafe.answers.certain, typesafe.requests.accepted, typesafe.usage":
    refusing((body) => criteria(body).some((given) => lengthOf(given) === 1)),
  "typesafe: as many options as the plain contract has at most: typesafe.requests.wide": refusing((body) =>
    criteria(body).some((given) => lengthOf(given) > maxCandidates),
  ),
  "typesafe: assets ignored: typesafe.requests.bounds": edit((body) => void body.delete("assets")),
  "typesafe: as many questions as the plain contract has at most: typesafe.requests.many": refusing(
    (body) => questionsOf(body).length > maxQuestions,
  ),
  "typesafe: as many options of a request as the plain contract has at most: typesafe.requests.total":
    refusing(
      (body) =>
        criteria(body).reduce<number>((sum, given) => sum + Math.max(2, lengthOf(given)), 0) > maxPairs,
    ),
  "typesafe: equal options told apart by their names: typesafe.answers.equal": editQuestions((question) => {
    const given = question.get("criteria");
    if (given instanceof Map && new Set(given.values()).size < given.size && given.size > 1)
      for (const [name, text] of given) if (typeof text === "string") given.set(name, `${name}: ${text}`);
  }),
  "typesafe: blank levels refused: typesafe.answers.blank": refusing((body) =>
    criteria(body).some(
      (given) => Array.isArray(given) && given.some((level) => level === null || level === ""),
    ),
  ),
  "typesafe: a null model refused: typesafe.answers.model, typesafe.requests.optional": refusing(
    (body) => body.get("model") === null,
  ),
  "typesafe: any model accepted: typesafe.errors.model, typesafe.requests.model": edit(
    (body) => void (typeof body.get("model") === "string" && body.delete("model")),
  ),
  "typesafe: jev-latest unknown: typesafe.answers.envelope, typesafe.requests.gzip, typesafe.usage": edit(
    (body) => void (body.get("model") === "jev-latest" && body.set("model", "unknown")),
  ),
  "typesafe: 422 for an unknown model: typesafe.errors.model": statusWhere(400, 422),
  "typesafe: 401 without a key: typesafe.errors.keys": statusWhere(403, 401),
  "typesafe: 403 for a wrong key: typesafe.errors.keys, typesafe.keys": statusWhere(401, 403),
  "typesafe: errors as sentences: typesafe.errors.keys, typesafe.keys, typesafe.requests.decoded-size, typesafe.schema":
    errors((body, { status }) => {
      if (status !== 422) body.set("detail", String(inner(body, "detail").get("message")));
    }),
  "typesafe: a list of issues as a sentence: typesafe.requests.refused, typesafe.schema": errors(
    (body, { status }) => void (status === 422 && body.set("detail", "Invalid.")),
  ),
  "typesafe: no x-typesafe-request-id: typesafe.request-id": header("x-typesafe-request-id", () => undefined),
  "typesafe: no x-typesafe-request-id with errors: typesafe.request-id": header(
    "x-typesafe-request-id",
    (id, { status }) => (status >= 400 ? undefined : id),
  ),
  "typesafe: another x-typesafe-request-id: typesafe.request-id.same": header(
    "x-typesafe-request-id",
    (id) => (id === undefined ? undefined : crypto.randomUUID()),
  ),
  "typesafe: gzip refused: typesafe.requests.gzip": early(
    (request) => encoded(request, "gzip"),
    (response) => refuse(response, 422, '{"detail":[{"loc":["body"],"msg":"No.","type":"media_type"}]}'),
  ),
  "typesafe: zstd refused: typesafe.requests.zstd": early(
    (request) => encoded(request, "zstd"),
    (response) => refuse(response, 422, '{"detail":[{"loc":["body"],"msg":"No.","type":"media_type"}]}'),
  ),
  "typesafe: questions about images answered: typesafe.requests.refused": editQuestions(
    (question) => void (question.get("type") === "box" && question.set("type", "noul")),
  ),
  "typesafe: parts of the AI SDK not unwrapped: typesafe.requests.parts": edit((body) => {
    const state = body.get("state");
    const isParts =
      Array.isArray(state) &&
      state.length > 0 &&
      state.every((part) => ["text", "json"].includes(String(inner(part).get("type"))));
    if (isParts) body.set("state", new Map([["parts", state]]));
  }),
  "typesafe: models without a release date: typesafe.models, typesafe.schema": json(
    "/typesafe/v1/models",
    (body) => {
      const models = body.get("models");
      if (Array.isArray(models)) for (const model of models) inner(model).delete("release_date");
    },
  ),
  "typesafe: a noul is the probability of false: typesafe.answers.sides": eachOf(
    "noul",
    (a) => void a.set("noul", Number((1 - Number(a.get("noul"))).toFixed(2))),
  ),
  "typesafe: the models need a key: typesafe.models.open, typesafe.request-id.same, typesafe.schema":
    beforehand((request) => {
      if (request.url === "/typesafe/v1/models" && request.headers.authorization === undefined)
        request.url = "/typesafe/v1/nothing";
    }),
});
