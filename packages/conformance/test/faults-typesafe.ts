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
const SMALL =
  '{"model":"x/y@0123456789012345678901234567890123456789","answers":{},"usage":{"input_tokens":0,"output_tokens":0}}';

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
  "typesafe: a legend from 1: typesafe.answers.legend": eachOf("score", (answer) => {
    answer.set(
      "legend",
      new Map([...inner(answer, "legend").values()].map((level, index) => [String(index + 1), level])),
    );
  }),
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
  "typesafe: options by the alphabet: typesafe.answers.order": eachAnswer((answer) =>
    reorder(inner(answer, "probabilities"), (names) => names.toSorted()),
  ),
  "typesafe: answers by the alphabet: typesafe.answers.order": on.answer((body) =>
    reorder(inner(body, "answers"), (names) => names.toSorted()),
  ),
  "typesafe: a question's name trimmed: typesafe.answers.order": on.answer((body) => {
    const answers = inner(body, "answers");
    const members = [...answers];
    answers.clear();
    for (const [name, answer] of members) answers.set(name.trim(), answer);
  }),
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
  "typesafe: further members refused: typesafe.requests.accepted": refusing((body) =>
    [...body.keys()].some((name) => !["state", "questions", "model", "assets"].includes(name)),
  ),
  "typesafe: further members of a question refused: typesafe.requests.accepted": refusing((body) =>
    questionsOf(body).some((question) =>
      [...question.keys()].some((name) => !["type", "instructions", "criteria"].includes(name)),
    ),
  ),
  "typesafe: instructions required: typesafe.answers.order, typesafe.requests.accepted, typesafe.usage":
    refusing((body) => questionsOf(body).some((question) => !question.has("instructions"))),
  "typesafe: one option refused: typesafe.answers.certain, typesafe.requests.accepted, typesafe.usage":
    refusing((body) => criteria(body).some((given) => lengthOf(given) === 1)),
  "typesafe: as many options as the plain contract has at most: typesafe.requests.wide": refusing((body) =>
    criteria(body).some((given) => lengthOf(given) > maxCandidates),
  ),
  "typesafe: 256 options accepted: typesafe.requests.bounds": editQuestions((question) => {
    const given = question.get("criteria");
    if (given instanceof Map && given.size === 256) given.delete([...given.keys()].at(-1) ?? "");
    if (Array.isArray(given) && given.length === 256) given.pop();
  }),
  "typesafe: assets ignored: typesafe.requests.bounds": edit((body) => void body.delete("assets")),
  "typesafe: as many questions as the plain contract has at most: typesafe.requests.many": refusing(
    (body) => questionsOf(body).length > maxQuestions,
  ),
  "typesafe: answers of two questions exchanged: typesafe.requests.many": on.answer((body) => {
    const answers = inner(body, "answers");
    const nouls = [...answers.keys()].filter((name) => inner(answers, name).get("type") === "noul");
    const found = nouls.map((name) => answers.get(name) ?? null);
    for (const [index, name] of nouls.entries()) answers.set(name, found[(index + 1) % found.length] ?? null);
  }),
  "typesafe: as many options of a request as the plain contract has at most: typesafe.requests.total":
    refusing(
      (body) =>
        criteria(body).reduce<number>((sum, given) => sum + Math.max(2, lengthOf(given)), 0) > maxPairs,
    ),
  "typesafe: equal options refused: typesafe.answers.equal, typesafe.requests.accepted": refusing((body) =>
    criteria(body).some((given) => {
      const texts =
        given instanceof Map
          ? [...given.values()].filter((text) => text !== null && text !== "")
          : Array.isArray(given)
            ? given
            : [];
      return new Set(texts).size < texts.length;
    }),
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
  "typesafe: blank levels known by their number from 1: typesafe.answers.blank": editQuestions((question) => {
    const given = question.get("criteria");
    if (Array.isArray(given))
      for (const [index, level] of given.entries())
        if (level === null || level === "") given[index] = String(index + 1);
  }),
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
  "typesafe: another type of error for an unknown model: typesafe.errors.model": errors((body) => {
    if (inner(body, "detail").get("error_type") === "api_usage_error")
      inner(body, "detail").set("error_type", "invalid_request_error");
  }),
  "typesafe: 401 without a key: typesafe.errors.keys": statusWhere(403, 401),
  "typesafe: another type of error for a wrong key: typesafe.errors.keys": errors((body) => {
    if (inner(body, "detail").get("error_type") === "authentication_error")
      inner(body, "detail").set("error_type", "permission_error");
  }),
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
  "typesafe: the limit counts encoded bytes: typesafe.requests.decoded-size, typesafe.schema": {
    reply: (reply, { body }) =>
      reply.status === 413 && body.byteLength < 2_097_152 ? { ...reply, status: 200, body: SMALL } : reply,
    send: (answer, request) => {
      if (
        answer.status === 413 &&
        request.headers["content-encoding"] !== undefined &&
        Number(request.headers["content-length"]) < 2_097_152
      ) {
        answer.status = 200;
        answer.body = SMALL;
      }
    },
  },
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
  "typesafe: jev-latest not listed: typesafe.models": json("/typesafe/v1/models", (body) => {
    const models = body.get("models");
    if (Array.isArray(models))
      body.set(
        "models",
        models.filter((model) => inner(model).get("name") !== "jev-latest"),
      );
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
