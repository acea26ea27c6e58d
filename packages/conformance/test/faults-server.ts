import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Fault, KEY } from "./faulty-service.ts";
import { faults, keyedFaults, on, type PlantedFault } from "./planted-fault.ts";
import { counters, eachScore } from "./planting.ts";
import {
  become,
  beforehand,
  early,
  errors,
  errorsWith,
  header,
  health,
  issues,
  json,
  letIn,
  listedModel,
  places,
  refuse,
  refuseWhere,
  statusWhere,
} from "./planting-http.ts";
import { inner } from "./tree.ts";

let lastText = "";
let calls = 0;

/** Faults of the service other than in answers. */
export const SERVER_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "404 in place of 405: routes.head, media.order-of-checks": statusWhere(405, 404),
    "405 without Allow: routes.head": header("allow", () => undefined),
    [`400 in place of 422: ${[
      ...["model.type", "request.questions-shape", "json.duplicates", "alias.noul-conflict"],
      ...["limits.nesting-hostile", "media.encoding", "errors.issues", "wire.pipelining"],
    ].join(", ")}`]: statusWhere(422, 400),
    "400 for broken JSON: json.empty, media.encoding, errors.issues, wire.pipelining": on.send((a) =>
      become(a, a.status === 422 && a.body?.includes('"invalid_json"'), 400),
    ),
    "any media type taken: media.encoding": { takesAnyType: true },
    "400 in place of 413: limits.body-bytes, media.order-of-checks, wire.early-413": statusWhere(413, 400),
    "422 in place of 413: limits.body-bytes, media.order-of-checks, errors.issues, wire.early-413":
      statusWhere(413, 422),
    "detail of a 422 as a sentence: errors.issues": errorsWith(422, "detail", "The request is not valid."),
    "a code beside detail: errors.issues": errorsWith(422, "code", 422),
    "the request's value beside an issue: errors.issues": issues((issue) => void issue.set("input", "value")),
    "a stack trace in errors: errors.issues": errorsWith(404, "stack", "Error: at server.js:1"),
    "detail named message: routes.unknown, errors.detail": errors((body) => {
      const detail = body.get("detail");
      body.clear();
      body.set("message", detail ?? null);
    }),
    "loc without body in front: limits.tokens.each-question, errors.loc": places((loc) => loc.slice(1)),
    "loc as a text: limits.tokens.each-question, errors.loc": places((loc) => loc.join(".")),
    "positions in loc as strings: errors.loc": places((loc) => loc.map(String)),
    "pydantic's words for types: errors.type": issues((issue) => void issue.set("type", "value_error")),
    "values in messages: errors.no-echo": on.reply((reply, { body }) =>
      reply.status === 422
        ? {
            ...reply,
            body: reply.body.replace(
              '"msg":"',
              `"msg":"Got ${/qzmark\w*/.exec(Buffer.from(body).toString())?.[0] ?? ""}. `,
            ),
          }
        : reply,
    ),
    "the path in a 404: errors.no-echo": errors(
      (body, answer, { url }) => void (answer.status === 404 && body.set("detail", `Nothing at ${url}.`)),
    ),
    "thousands of issues: errors.bounded": errors((body) => {
      const detail = body.get("detail");
      if (Array.isArray(detail) && detail.length >= 20) body.set("detail", [...detail, ...detail]);
    }),
    "whole names in loc: errors.bounded": on.reply((reply, { body }) => {
      const name = /"(n{101,})"/.exec(Buffer.from(body).toString())?.[1];
      return name === undefined ? reply : { ...reply, body: reply.body.replace(/n{100}/, name) };
    }),
    "token limits without their numbers: limits.tokens.exact": issues(
      (issue) => void (issue.get("type") === "too_many_tokens" && issue.set("msg", "The text is too long.")),
    ),
    "500 for a wrong type: server.never-500, model.type, request.questions-shape, json.no-object": on.send(
      (a) => {
        if (a.status === 422 && a.body?.includes('"wrong_type"')) {
          a.status = 500;
          a.body = '{"detail":"The service failed."}';
        }
      },
    ),
    "no x-request-id: headers.request-id, headers.request-id-replaced": header(
      "x-request-id",
      () => undefined,
    ),
    "the same x-request-id for everybody: headers.request-id-new": header(
      "x-request-id",
      (id, _a, { headers }) => (id === headers["x-request-id"] ? id : "request-1"),
    ),
    "no server-timing: headers.server-timing": header("server-timing", () => undefined),
    "a redirect for a slash at the end: routes.unknown, headers.request-id, errors.json": early(
      ({ url }) => /^\/(v1|health)\/.*\/$|^\/health\/$/.test(url ?? ""),
      (response) => response.writeHead(307, { location: "/health", "content-length": "0" }).end(),
    ),
    "queries refused: routes.query": refuseWhere(404, ({ url }) => url?.includes("?") === true),
    "/ready is 503 while ready: health.ready, ready.schema": on.send((a, { url, method }) =>
      become(a, url === "/ready" && method === "GET", 503),
    ),
    "/ready is not there: health.ready, ready.schema, routes.head": refuseWhere(
      404,
      ({ url }) => url === "/ready",
    ),
    "/health repeats the last request: health.no-request-text": {
      request: (text) => {
        if (text !== "") lastText = text;
        return text;
      },
      ...health((body) => void body.set("last_request", lastText)),
    },
    "/health without limits: health.schema, ready.schema": health((body) => void body.delete("limits")),
    "status ok: health.schema, ready.schema": health((body) => void body.set("status", "ok")),
    "/health with counters as texts: health.named-counters, ready.schema, overload.counted": health(
      (body) => void body.set("completed_requests", String(body.get("completed_requests"))),
    ),
    "/health names another limit: health.limits, limits.pairs": health(
      (body) => void inner(body, "limits").set("max_pairs", 512),
    ),
    "/health with another temperature: health.facts": health((body) => void body.set("temperature", 1)),
    "/health names the model without revision: health.facts, model.same-everywhere": health(
      (body) => void body.set("model", String(body.get("model")).split("@")[0] ?? ""),
    ),
    "rejected_requests stays 0: overload.counted": counters(() => ({ rejected: 0 })),
    "503 without Retry-After: overload.refused": header("retry-after", () => undefined),
    "429 for a full queue: overload.refused": statusWhere(503, 429),
    "models without a task: models.names-model": listedModel((model) => {
      model.delete("task");
      model.set("description", "x");
    }),
    "an alias listed that is not accepted: model.short-alias": listedModel((model) => {
      const aliases = model.get("aliases");
      if (Array.isArray(aliases)) aliases.push("latest");
    }),
    "a release date in words: models.schema": listedModel(
      (model) => void model.set("release_date", "November 2026"),
    ),
    "/docs is not there: routes.head, headers.request-id-kept, docs.docs": refuseWhere(
      404,
      ({ url }) => url === "/docs",
    ),
    "a document without one of the operations: docs.openapi": json(
      "/openapi.json",
      (body) => void inner(body, "paths").delete("/v1/rank"),
    ),
    "h2c accepted: wire.h2c": {
      plant: (app) => {
        const onUpgrade = (_request: IncomingMessage, socket: import("node:stream").Duplex) => {
          socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
        };
        app.server.on("upgrade", onUpgrade);
        return () => app.server.off("upgrade", onUpgrade);
      },
    },
    "Node's own answer to broken messages: wire.broken, wire.huge-head": {
      plant: (app) => {
        const own = app.server.listeners("clientError");
        app.server.removeAllListeners("clientError");
        app.server.on("clientError", (_error, socket) => {
          socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        });
        return () => {
          app.server.removeAllListeners("clientError");
          for (const listener of own)
            app.server.on("clientError", (...args) => Reflect.apply(listener, app.server, args));
        };
      },
    },
    "the body of an early answer read as the next request: wire.early-answers": beforehand(
      (request, response) => {
        if (request.method === "PUT" && Number(request.headers["content-length"]) > 0)
          response.on("finish", () => {
            request.socket.write(
              'HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{"detail":"No"}',
            );
          });
      },
    ),
    "the connection cut after an early answer: wire.early-answers": beforehand((request, response) => {
      if (request.url === "/nowhere/hidden" || (request.url === "/nowhere" && request.method === "POST"))
        response.on("finish", () => request.socket.destroy());
    }),
    "Expect: 100-continue left waiting: wire.expect-continue": refuseWhere(
      400,
      ({ headers }) => headers.expect !== undefined,
    ),
    "chunked bodies refused: wire.chunked": refuseWhere(
      411,
      ({ headers }) => headers["transfer-encoding"] !== undefined,
    ),
    "scores that depend on the number of candidates: scores.candidates": eachScore(
      (score, { count }) => score + count / 2,
    ),
    "scores that depend on the place of the candidate: scores.criteria-order, scores.criteria-order.bits":
      eachScore((score, { index }) => score - index / 2),
    "scores that depend on the place of the question: usage.cached-pairs, scores.company": eachScore(
      (score, { place }) => score + place,
    ),
    "scores normalized over the request: scores.alone": on.scores((scored) => {
      const all = scored.scores.flatMap((row) => [...row]);
      const mean = all.reduce((a, b) => a + b, 0) / all.length;
      return { ...scored, scores: scored.scores.map((row) => row.map((score) => score - mean)) };
    }),
    "scores that ignore the question: scores.depend-on-all, texts.only-state-holds-json, limits.tokens.each-question":
      on.texts((request) => ({
        ...request,
        questions: request.questions.map((one) => ({ ...one, question: { ...one.question, text: "q" } })),
      })),
    "padding that changes scores in company: scores.alone.bits": on.scores((scored, request) => {
      const longest = Math.max(...request.questions.map(({ question }) => question.text.length));
      return { ...scored, scores: scored.scores.map((row) => row.map((score) => score + longest * 1e-6)) };
    }),
  }),
  ...faults(
    {
      "a score that drifts with time: scores.again.bits, scores.order.bits": eachScore((score) => {
        calls += 1;
        return score + calls * 1e-6;
      }),
      "scores with noise in the last digits: scores.again.bits": eachScore(
        (score) => score * (1 + (Math.random() - 0.5) * 1e-5),
      ),
      "scores that are far off at random: scores.again, scores.order": eachScore(
        (score) => score + Math.random() * 5,
      ),
    },
    { only: ["scores.again", "scores.order"] },
  ),
  ...faults(
    {
      "answers of two requests mixed up under load: scores.concurrency": (() => {
        let running = 0;
        return {
          request: (text, operation) => {
            if (operation === "systemone") running += 1;
            return text;
          },
          reply: async (reply, { operationId }) => {
            if (operationId !== "systemone") return reply;
            await sleep(20); // so that what runs together ends together
            const others = running;
            running -= 1;
            if (others < 4 || reply.status !== 200) return reply;
            return {
              ...reply,
              body: reply.body.replaceAll(/"scores":\{"([^"]*)":(-?\d)/g, '"scores":{"$1":$21'),
            };
          },
        } satisfies Fault;
      })(),
    },
    { only: ["scores.concurrency"] },
  ),
  ...keyedFaults({
    "no key needed for rankings: auth.missing": letIn(({ url }) => url === "/v1/rank"),
    "403 in place of 401: auth.missing": statusWhere(401, 403),
    "the key in the query too: auth.elsewhere": letIn(({ url }) => url?.includes(KEY) === true),
    "x-api-key too: auth.elsewhere": letIn(({ headers }) => headers["x-api-key"] !== undefined),
    "401 without its challenge: auth.challenge": header("www-authenticate", () => undefined),
    "the body before the key: auth.before-body": early(
      ({ method, headers }) =>
        method === "POST" &&
        headers.authorization === undefined &&
        headers["content-type"] !== "application/json",
      (response) => refuse(response, 422, '{"detail":[{"loc":["body"],"msg":"No.","type":"media_type"}]}'),
    ),
  }),
];
