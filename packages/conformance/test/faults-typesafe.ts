import type { IncomingMessage } from "node:http";
import { REQUEST_LIMITS } from "../../../src/decisions/request.ts";
import type { Fault } from "./faulty-service.ts";
import { type PlantedFault, plant } from "./planted-fault.ts";
import { eachAnswer, eachOf, edit, editQuestions, lengthOf, questionsOf } from "./planting.ts";
import { beforehand, early, errors, header, json, refuse, statusWhere } from "./planting-http.ts";
import { inner, numbersOf, readTree, reorder, type TreeMap } from "./tree.ts";

const { maxQuestions, maxCandidates, maxPairs } = REQUEST_LIMITS;

/** Refuses requests that are meant with 422. */
const refusing = (isRefused: (body: TreeMap) => boolean): Fault => ({
  reply: (reply, { body }) => {
    if (reply.status !== 200 || body.byteLength === 0) return reply;
    const tree = readTree(Buffer.from(body).toString("utf8"));
    if (!(tree instanceof Map) || !isRefused(tree)) return reply;
    return {
      ...reply,
      status: 422,
      body: '{"detail":[{"loc":["body"],"msg":"Expected another.","type":"wrong_type"}]}',
    };
  },
});
const criteria = (body: TreeMap) => questionsOf(body).map((question) => question.get("criteria"));
const shares = (answer: TreeMap) => numbersOf(inner(answer, "probabilities"));
const encoded = (request: IncomingMessage, coding: string) => request.headers["content-encoding"] === coding;
const SMALL =
  '{"model":"x/y@0123456789012345678901234567890123456789","answers":{},"usage":{"input_tokens":0,"output_tokens":0}}';

/** Faults of the TypeSafe dialect. */
export const TYPESAFE_FAULTS: readonly PlantedFault[] = [
  plant(
    "typesafe: probabilities with three digits",
    ["typesafe.answers.rounded"],
    eachAnswer((answer) => {
      for (const [name, share] of inner(answer, "probabilities"))
        inner(answer, "probabilities").set(name, Number((Number(share) * 0.999).toFixed(3)));
    }),
  ),
  plant(
    "typesafe: a noul of four digits",
    ["typesafe.answers.rounded"],
    eachOf("noul", (a) => void a.set("noul", Number(a.get("noul")) * 0.9999)),
  ),
  plant(
    "typesafe: confidence of a choice is the largest probability",
    ["typesafe.answers.choice"],
    eachOf("choice", (a) => void a.set("confidence", Math.max(...shares(a)))),
  ),
  plant(
    "typesafe: confidence of a score is the largest probability",
    ["typesafe.answers.score"],
    eachOf("score", (a) => void a.set("confidence", Math.max(...shares(a)))),
  ),
  plant(
    "typesafe: confidence of a single option is 0",
    ["typesafe.answers.certain"],
    eachAnswer((a) => void (shares(a).length === 1 && a.set("confidence", 0))),
  ),
  plant(
    "typesafe: a noul has a confidence",
    ["typesafe.answers.noul"],
    eachOf("noul", (a) => void a.set("confidence", a.get("noul") ?? 0)),
  ),
  plant(
    "typesafe: a legend from 1",
    ["typesafe.answers.legend"],
    eachOf("score", (answer) => {
      answer.set(
        "legend",
        new Map([...inner(answer, "legend").values()].map((level, index) => [String(index + 1), level])),
      );
    }),
  ),
  plant(
    "typesafe: levels of a legend trimmed",
    ["typesafe.answers.legend-exact"],
    eachOf("score", (answer) => {
      for (const [name, level] of inner(answer, "legend"))
        if (typeof level === "string") inner(answer, "legend").set(name, level.trim());
    }),
  ),
  plant(
    "typesafe: structured levels of a legend as text",
    ["typesafe.answers.legend"],
    eachOf("score", (answer) => {
      for (const [name, level] of inner(answer, "legend"))
        if (level instanceof Map || Array.isArray(level)) inner(answer, "legend").set(name, "text");
    }),
  ),
  plant(
    "typesafe: a score of the rounded probabilities",
    ["typesafe.answers.exact"],
    eachOf("score", (answer) => {
      const sum = shares(answer).reduce((all, share, level) => all + level * share, 0);
      answer.set("score", Number(sum.toFixed(2)));
    }),
  ),
  plant(
    "typesafe: scores from 0 to 1",
    ["typesafe.answers.score"],
    eachOf("score", (answer) => {
      const last = shares(answer).length - 1;
      if (last > 0) answer.set("score", Number((Number(answer.get("score")) / last).toFixed(2)));
    }),
  ),
  plant(
    "typesafe: options by the alphabet",
    ["typesafe.answers.order"],
    eachAnswer((answer) => reorder(inner(answer, "probabilities"), (names) => names.toSorted())),
  ),
  plant(
    "typesafe: of tied options the last is the choice",
    ["typesafe.answers.ties"],
    eachOf("choice", (answer) => {
      const best = Math.max(...shares(answer));
      answer.set(
        "choice",
        [...inner(answer, "probabilities")].findLast(([, share]) => share === best)?.[0] ?? "",
      );
    }),
  ),
  plant("typesafe: answers by the alphabet", ["typesafe.answers.order"], {
    answer: (body) => reorder(inner(body, "answers"), (names) => names.toSorted()),
  }),
  plant("typesafe: the model that was asked for", ["typesafe.answers.model"], {
    answer: (body, _operation, request) => {
      const asked = /"model": ?"([^"]+)"/.exec(request)?.[1];
      if (asked !== undefined && body.has("answers")) body.set("model", asked);
    },
  }),
  plant(
    "typesafe: further members refused",
    ["typesafe.requests.accepted"],
    refusing((body) =>
      [...body.keys()].some((name) => !["state", "questions", "model", "assets"].includes(name)),
    ),
  ),
  plant(
    "typesafe: further members of a question refused",
    ["typesafe.requests.accepted"],
    refusing((body) =>
      questionsOf(body).some((question) =>
        [...question.keys()].some((name) => !["type", "instructions", "criteria"].includes(name)),
      ),
    ),
  ),
  plant(
    "typesafe: instructions required",
    ["typesafe.answers.order", "typesafe.requests.accepted", "typesafe.usage"],
    refusing((body) => questionsOf(body).some((question) => !question.has("instructions"))),
  ),
  plant(
    "typesafe: one option refused",
    ["typesafe.answers.certain", "typesafe.requests.accepted", "typesafe.usage"],
    refusing((body) => criteria(body).some((given) => lengthOf(given) === 1)),
  ),
  plant(
    "typesafe: as many options as the plain contract has at most",
    ["typesafe.requests.wide"],
    refusing((body) => criteria(body).some((given) => lengthOf(given) > maxCandidates)),
  ),
  plant(
    "typesafe: 256 options accepted",
    ["typesafe.requests.bounds"],
    editQuestions((question) => {
      const given = question.get("criteria");
      if (given instanceof Map && given.size === 256) given.delete([...given.keys()].at(-1) ?? "");
      if (Array.isArray(given) && given.length === 256) given.pop();
    }),
  ),
  plant(
    "typesafe: as many questions as the plain contract has at most",
    ["typesafe.requests.many"],
    refusing((body) => questionsOf(body).length > maxQuestions),
  ),
  plant(
    "typesafe: as many options of a request as the plain contract has at most",
    ["typesafe.requests.total"],
    refusing(
      (body) =>
        criteria(body).reduce<number>((sum, given) => sum + Math.max(2, lengthOf(given)), 0) > maxPairs,
    ),
  ),
  plant(
    "typesafe: equal options refused",
    ["typesafe.answers.equal", "typesafe.requests.accepted"],
    refusing((body) =>
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
  ),
  plant(
    "typesafe: equal options told apart by their names",
    ["typesafe.answers.equal"],
    editQuestions((question) => {
      const given = question.get("criteria");
      if (given instanceof Map && new Set(given.values()).size < given.size && given.size > 1)
        for (const [name, text] of given) if (typeof text === "string") given.set(name, `${name}: ${text}`);
    }),
  ),
  plant(
    "typesafe: blank levels refused",
    ["typesafe.answers.blank"],
    refusing((body) =>
      criteria(body).some(
        (given) => Array.isArray(given) && given.some((level) => level === null || level === ""),
      ),
    ),
  ),
  plant(
    "typesafe: blank levels known by their number from 1",
    ["typesafe.answers.blank"],
    editQuestions((question) => {
      const given = question.get("criteria");
      if (Array.isArray(given))
        for (const [index, level] of given.entries())
          if (level === null || level === "") given[index] = String(index + 1);
    }),
  ),
  plant(
    "typesafe: a null model refused",
    ["typesafe.answers.model", "typesafe.requests.optional"],
    refusing((body) => body.get("model") === null),
  ),
  plant(
    "typesafe: any model accepted",
    ["typesafe.errors.model", "typesafe.requests.model"],
    edit((body) => void (typeof body.get("model") === "string" && body.delete("model"))),
  ),
  plant(
    "typesafe: jev-latest unknown",
    ["typesafe.answers.envelope", "typesafe.requests.gzip", "typesafe.usage"],
    edit((body) => void (body.get("model") === "jev-latest" && body.set("model", "unknown"))),
  ),
  plant("typesafe: 422 for an unknown model", ["typesafe.errors.model"], statusWhere(400, 422)),
  plant("typesafe: 401 without a key", ["typesafe.errors.keys"], statusWhere(403, 401)),
  plant("typesafe: 403 for a wrong key", ["typesafe.errors.keys", "typesafe.keys"], statusWhere(401, 403)),
  plant(
    "typesafe: errors as sentences",
    ["typesafe.errors.keys", "typesafe.keys", "typesafe.requests.decoded-size", "typesafe.schema"],
    errors((body, { status }) => {
      if (status !== 422) body.set("detail", String(inner(body, "detail").get("message")));
    }),
  ),
  plant(
    "typesafe: another type of error for a wrong key",
    ["typesafe.errors.keys"],
    errors((body) => {
      if (inner(body, "detail").get("error_type") === "authentication_error")
        inner(body, "detail").set("error_type", "permission_error");
    }),
  ),
  plant(
    "typesafe: another type of error for an unknown model",
    ["typesafe.errors.model"],
    errors((body) => {
      if (inner(body, "detail").get("error_type") === "api_usage_error")
        inner(body, "detail").set("error_type", "invalid_request_error");
    }),
  ),
  plant(
    "typesafe: a list of issues as a sentence",
    ["typesafe.requests.refused", "typesafe.schema"],
    errors((body, { status }) => void (status === 422 && body.set("detail", "Invalid."))),
  ),
  plant(
    "typesafe: no x-typesafe-request-id",
    ["typesafe.request-id"],
    header("x-typesafe-request-id", () => undefined),
  ),
  plant(
    "typesafe: another x-typesafe-request-id",
    ["typesafe.request-id.same"],
    header("x-typesafe-request-id", (id) => (id === undefined ? undefined : crypto.randomUUID())),
  ),
  plant(
    "typesafe: no x-typesafe-request-id with errors",
    ["typesafe.request-id"],
    header("x-typesafe-request-id", (id, { status }) => (status >= 400 ? undefined : id)),
  ),
  plant(
    "typesafe: gzip refused",
    ["typesafe.requests.gzip"],
    early(
      (request) => encoded(request, "gzip"),
      (response) => refuse(response, 422, '{"detail":[{"loc":["body"],"msg":"No.","type":"media_type"}]}'),
    ),
  ),
  plant(
    "typesafe: zstd refused",
    ["typesafe.requests.zstd"],
    early(
      (request) => encoded(request, "zstd"),
      (response) => refuse(response, 422, '{"detail":[{"loc":["body"],"msg":"No.","type":"media_type"}]}'),
    ),
  ),
  plant("typesafe: the limit counts encoded bytes", ["typesafe.requests.decoded-size", "typesafe.schema"], {
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
  }),
  plant(
    "typesafe: questions about images answered",
    ["typesafe.requests.refused"],
    editQuestions((question) => void (question.get("type") === "box" && question.set("type", "noul"))),
  ),
  plant(
    "typesafe: assets ignored",
    ["typesafe.requests.bounds"],
    edit((body) => void body.delete("assets")),
  ),
  plant(
    "typesafe: parts of the AI SDK not unwrapped",
    ["typesafe.requests.parts"],
    edit((body) => {
      const state = body.get("state");
      const isParts =
        Array.isArray(state) &&
        state.length > 0 &&
        state.every((part) => ["text", "json"].includes(String(inner(part).get("type"))));
      if (isParts) body.set("state", new Map([["parts", state]]));
    }),
  ),
  plant(
    "typesafe: jev-latest not listed",
    ["typesafe.models"],
    json("/typesafe/v1/models", (body) => {
      const models = body.get("models");
      if (Array.isArray(models))
        body.set(
          "models",
          models.filter((model) => inner(model).get("name") !== "jev-latest"),
        );
    }),
  ),
  plant(
    "typesafe: models without a release date",
    ["typesafe.models", "typesafe.schema"],
    json("/typesafe/v1/models", (body) => {
      const models = body.get("models");
      if (Array.isArray(models)) for (const model of models) inner(model).delete("release_date");
    }),
  ),
  plant("typesafe: answers of two questions exchanged", ["typesafe.requests.many"], {
    answer: (body) => {
      const answers = inner(body, "answers");
      const nouls = [...answers.keys()].filter((name) => inner(answers, name).get("type") === "noul");
      const found = nouls.map((name) => answers.get(name) ?? null);
      for (const [index, name] of nouls.entries())
        answers.set(name, found[(index + 1) % found.length] ?? null);
    },
  }),
  plant(
    "typesafe: a noul is the probability of false",
    ["typesafe.answers.sides"],
    eachOf("noul", (a) => void a.set("noul", Number((1 - Number(a.get("noul"))).toFixed(2)))),
  ),
  plant("typesafe: a question's name trimmed", ["typesafe.answers.order"], {
    answer: (body) => {
      const answers = inner(body, "answers");
      const members = [...answers];
      answers.clear();
      for (const [name, answer] of members) answers.set(name.trim(), answer);
    },
  }),
  plant(
    "typesafe: the models need a key",
    ["typesafe.models.open", "typesafe.request-id.same", "typesafe.schema"],
    beforehand((request) => {
      if (request.url === "/typesafe/v1/models" && request.headers.authorization === undefined)
        request.url = "/typesafe/v1/nothing";
    }),
  ),
];
