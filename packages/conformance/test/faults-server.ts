import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Fault, KEY } from "./faulty-service.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { counters, eachScore } from "./planting.ts";
import {
  become,
  beforehand,
  early,
  errors,
  header,
  health,
  issues,
  json,
  letIn,
  listedModel,
  refuse,
  refuseWhere,
  rewrite,
  statusWhere,
} from "./planting-http.ts";
import { inner } from "./tree.ts";

let lastText = "";
let calls = 0;

/** Faults of the service other than in answers. */
export const SERVER_FAULTS: readonly PlantedFault[] = [
  {
    name: "404 of the shape that Express sends",
    fault: {
      send: (a) => {
        if (a.status === 404) {
          a.body = "<html>Not Found</html>";
          a.headers["content-type"] = "text/html";
        }
      },
    },
    fails: ["routes.unknown", "errors.issues", "errors.json"],
  },
  {
    name: "404 in Fastify's own words",
    fault: {
      send: (a) => {
        if (a.status === 404) a.body = '{"message":"Route not found","error":"Not Found","statusCode":404}';
      },
    },
    fails: ["routes.unknown", "errors.issues"],
  },
  {
    name: "404 in place of 405",
    fault: statusWhere(405, 404),
    fails: ["routes.methods", "routes.head", "media.order-of-checks"],
  },
  {
    name: "405 without Allow",
    fault: header("allow", () => undefined),
    fails: ["routes.methods", "routes.head"],
  },
  {
    name: "405 that allows everything",
    fault: header("allow", (value) => (value === undefined ? undefined : "GET, POST, OPTIONS")),
    fails: ["routes.methods"],
  },
  {
    name: "400 in place of 422",
    fault: statusWhere(422, 400),
    fails: [
      "model.unknown",
      "model.exact-name",
      "model.type",
      "model.null",
      "request.required",
      "request.criteria-required",
      "request.unknown-field",
      "request.unknown-question-field",
      "request.question-type",
      "request.questions-shape",
      "request.criteria-shape",
      "request.candidates-shape",
      "request.distinct",
      "request.distinct-rendered",
      "request.blank",
      "json.invalid",
      "json.no-object",
      "json.grammar",
      "json.empty",
      "json.numbers",
      "json.unicode",
      "json.duplicates",
      "alias.noul-conflict",
      "alias.rank-conflict",
      "alias.rank-only",
      "limits.questions",
      "limits.labels",
      "limits.levels",
      "limits.candidates",
      "limits.pairs-refused",
      "limits.nesting",
      "limits.nesting-hostile",
      "limits.tokens.never-cut",
      "limits.tokens.each-question",
      "media.others",
      "media.encoding",
      "errors.issues",
      "wire.keep-alive",
      "wire.pipelining",
    ],
  },
  {
    name: "400 for broken JSON",
    fault: { send: (a) => become(a, a.status === 422 && a.body?.includes('"invalid_json"'), 400) },
    fails: [
      "json.invalid",
      "json.grammar",
      "json.empty",
      "json.numbers",
      "json.unicode",
      "media.encoding",
      "errors.issues",
      "wire.keep-alive",
      "wire.pipelining",
    ],
  },
  {
    name: "415 for another media type",
    fault: { send: (a) => become(a, a.status === 422 && a.body?.includes('"media_type"'), 415) },
    fails: ["media.others", "media.encoding", "media.order-of-checks", "errors.issues"],
  },
  {
    name: "any media type taken",
    fault: { takesAnyType: true },
    fails: ["media.others", "media.encoding"],
  },
  {
    name: "400 in place of 413",
    fault: statusWhere(413, 400),
    fails: [
      "limits.body",
      "limits.body-bytes",
      "limits.body-chunked",
      "limits.body-announced",
      "media.order-of-checks",
      "wire.early-413",
    ],
  },
  {
    name: "422 in place of 413",
    fault: statusWhere(413, 422),
    fails: [
      "limits.body",
      "limits.body-bytes",
      "limits.body-chunked",
      "limits.body-announced",
      "media.order-of-checks",
      "errors.issues",
      "wire.early-413",
    ],
  },
  {
    name: "detail of a 422 as a sentence",
    fault: errors(
      (body, { status }) => void (status === 422 && body.set("detail", "The request is not valid.")),
    ),
    fails: ["errors.issues"],
  },
  {
    name: "detail named message",
    fault: errors((body) => {
      const detail = body.get("detail");
      body.clear();
      body.set("message", detail ?? null);
    }),
    fails: ["routes.unknown", "routes.methods", "errors.detail", "errors.issues"],
  },
  {
    name: "a code beside detail",
    fault: errors((body, { status }) => void (status === 422 && body.set("code", 422))),
    fails: ["errors.issues"],
  },
  {
    name: "loc without body in front",
    fault: issues((issue) => {
      const loc = issue.get("loc");
      if (Array.isArray(loc)) issue.set("loc", loc.slice(1));
    }),
    fails: ["limits.tokens.each-question", "errors.issues", "errors.loc"],
  },
  {
    name: "loc that ends at the body",
    fault: issues((issue) => void issue.set("loc", ["body"])),
    fails: ["limits.tokens.each-question", "errors.loc"],
  },
  {
    name: "loc as a text",
    fault: issues((issue) => {
      const loc = issue.get("loc");
      if (Array.isArray(loc)) issue.set("loc", loc.join("."));
    }),
    fails: ["limits.tokens.each-question", "errors.issues", "errors.loc"],
  },
  {
    name: "positions in loc as strings",
    fault: issues((issue) => {
      const loc = issue.get("loc");
      if (Array.isArray(loc)) issue.set("loc", loc.map(String));
    }),
    fails: ["errors.loc"],
  },
  {
    name: "pydantic's words for types",
    fault: issues((issue) => void issue.set("type", "value_error")),
    fails: ["errors.issues", "errors.type"],
  },
  {
    name: "one type for all that is wrong in shape",
    fault: issues(
      (issue) =>
        void (
          ["missing", "unknown_field", "wrong_type"].includes(String(issue.get("type"))) &&
          issue.set("type", "wrong_type")
        ),
    ),
    fails: ["errors.type"],
  },
  {
    name: "the request's value beside an issue",
    fault: issues((issue) => void issue.set("input", "value")),
    fails: ["errors.issues"],
  },
  {
    name: "values in messages",
    fault: {
      reply: (reply, { body }) =>
        reply.status === 422
          ? {
              ...reply,
              body: reply.body.replace(
                '"msg":"',
                `"msg":"Got ${/qzmark\w*/.exec(Buffer.from(body).toString())?.[0] ?? ""}. `,
              ),
            }
          : reply,
    },
    fails: ["errors.no-echo"],
  },
  {
    name: "the path in a 404",
    fault: errors(
      (body, answer, { url }) => void (answer.status === 404 && body.set("detail", `Nothing at ${url}.`)),
    ),
    fails: ["errors.no-echo"],
  },
  {
    name: "thousands of issues",
    fault: errors((body) => {
      const detail = body.get("detail");
      if (Array.isArray(detail) && detail.length >= 20) body.set("detail", [...detail, ...detail]);
    }),
    fails: ["errors.issues", "errors.bounded"],
  },
  {
    name: "whole names in loc",
    fault: {
      reply: (reply, { body }) => {
        const name = /"(n{101,})"/.exec(Buffer.from(body).toString())?.[1];
        return name === undefined ? reply : { ...reply, body: reply.body.replace(/n{100}/, name) };
      },
    },
    fails: ["errors.bounded"],
  },
  {
    name: "token limits without their numbers",
    fault: issues(
      (issue) => void (issue.get("type") === "too_many_tokens" && issue.set("msg", "The text is too long.")),
    ),
    fails: ["limits.tokens.exact"],
  },
  {
    name: "a token limit that is one too high",
    fault: {
      send: (a) =>
        rewrite(a, a.status === 422 && a.body?.includes("too_many_tokens"), (text) =>
          text.replaceAll("2048", "2049"),
        ),
    },
    fails: ["limits.tokens.exact"],
  },
  {
    name: "500 for a wrong type",
    fault: {
      send: (a) => {
        if (a.status === 422 && a.body?.includes('"wrong_type"')) {
          a.status = 500;
          a.body = '{"detail":"The service failed."}';
        }
      },
    },
    fails: [
      "server.never-500",
      "model.type",
      "model.null",
      "request.criteria-required",
      "request.question-type",
      "request.questions-shape",
      "request.criteria-shape",
      "request.candidates-shape",
      "json.no-object",
    ],
  },
  {
    name: "a stack trace in errors",
    fault: errors((body, { status }) => void (status === 404 && body.set("stack", "Error: at server.js:1"))),
    fails: ["errors.issues"],
  },
  {
    name: "no x-request-id",
    fault: header("x-request-id", () => undefined),
    fails: ["headers.request-id", "headers.request-id-kept", "headers.request-id-replaced"],
  },
  {
    name: "no x-request-id with errors",
    fault: header("x-request-id", (id, { status }) => (status >= 400 ? undefined : id)),
    fails: ["headers.request-id", "headers.request-id-kept", "headers.request-id-replaced"],
  },
  {
    name: "the caller's x-request-id not kept",
    fault: header("x-request-id", () => crypto.randomUUID()),
    fails: ["headers.request-id-kept"],
  },
  {
    name: "any x-request-id kept",
    fault: header("x-request-id", (id, _a, { headers }) => {
      const given = headers["x-request-id"];
      return typeof given === "string" && /^[\x20-\x7e]+$/.test(given) ? given : id;
    }),
    fails: ["headers.request-id", "headers.request-id-replaced"],
  },
  {
    name: "the same x-request-id for everybody",
    fault: header("x-request-id", (id, _a, { headers }) =>
      id === headers["x-request-id"] ? id : "request-1",
    ),
    fails: ["headers.request-id-replaced", "headers.request-id-new"],
  },
  {
    name: "no server-timing",
    fault: header("server-timing", () => undefined),
    fails: ["headers.server-timing"],
  },
  {
    name: "server-timing without the queue",
    fault: header("server-timing", (value) => value?.replace(/queue;dur=[\d.]+, /, "")),
    fails: ["headers.server-timing"],
  },
  {
    name: "server-timing in seconds",
    fault: {
      takesMs: 20,
      ...header("server-timing", (value) =>
        value?.replaceAll(/dur=([\d.]+)/g, (_all, ms) => `dur=${(Number(ms) / 1000).toFixed(6)}`),
      ),
    },
    fails: ["headers.server-timing"],
  },
  {
    name: "answers as text/plain",
    fault: header("content-type", (value, { status }) =>
      status === 200 && value?.startsWith("application/json") ? "text/plain" : value,
    ),
    fails: ["errors.json"],
  },
  {
    name: "errors as text/plain",
    fault: header("content-type", (value, { status }) => (status === 422 ? "text/plain" : value)),
    fails: ["errors.json"],
  },
  {
    name: "a slash at the end is the same path",
    fault: beforehand((request) => {
      request.url = request.url?.replace(/^(\/[a-z0-9/]+)\/$/, "$1") ?? "";
    }),
    fails: ["routes.unknown"],
  },
  {
    name: "paths in any capitals",
    fault: beforehand((request) => {
      if (/^\/v1\/systemone$|^\/health$/i.test(request.url ?? ""))
        request.url = request.url?.toLowerCase() ?? "";
    }),
    fails: ["routes.unknown"],
  },
  {
    name: "a redirect for a slash at the end",
    fault: early(
      ({ url }) => /^\/(v1|health)\/.*\/$|^\/health\/$/.test(url ?? ""),
      (response) => response.writeHead(307, { location: "/health", "content-length": "0" }).end(),
    ),
    fails: ["routes.unknown", "headers.request-id", "errors.json"],
  },
  {
    name: "queries refused",
    fault: refuseWhere(404, ({ url }) => url?.includes("?") === true),
    fails: ["routes.query"],
  },
  {
    name: "/ready without counters",
    fault: json("/ready", (body) => {
      const status = body.get("status");
      body.clear();
      body.set("status", status ?? "");
    }),
    fails: ["health.ready", "ready.schema"],
  },
  {
    name: "/ready is not there",
    fault: refuseWhere(404, ({ url }) => url === "/ready"),
    fails: ["health.ready", "ready.schema", "routes.methods", "routes.head"],
  },
  {
    name: "/health repeats the last request",
    fault: {
      request: (text) => {
        if (text !== "") lastText = text;
        return text;
      },
      ...health((body) => void body.set("last_request", lastText)),
    },
    fails: ["health.no-request-text"],
  },
  {
    name: "/health without limits",
    fault: health((body) => void body.delete("limits")),
    fails: ["health.schema", "ready.schema"],
  },
  {
    name: "/health with counters as texts",
    fault: health((body) => void body.set("completed_requests", String(body.get("completed_requests")))),
    fails: ["health.named-counters", "health.schema", "ready.schema", "overload.counted"],
  },
  {
    name: "/health names another limit",
    fault: health((body) => void inner(body, "limits").set("max_pairs", 512)),
    fails: ["health.limits", "limits.pairs"],
  },
  {
    name: "/health with another temperature",
    fault: health((body) => void body.set("temperature", 1)),
    fails: ["health.facts"],
  },
  {
    name: "/health names the model without revision",
    fault: health((body) => void body.set("model", String(body.get("model")).split("@")[0] ?? "")),
    fails: ["health.facts", "model.same-everywhere"],
  },
  {
    name: "status ok",
    fault: health((body) => void body.set("status", "ok")),
    fails: ["health.schema", "ready.schema"],
  },
  {
    name: "/ready is 503 while ready",
    fault: { send: (a, { url, method }) => become(a, url === "/ready" && method === "GET", 503) },
    fails: ["health.ready", "ready.schema"],
  },
  {
    name: "rejected_requests stays 0",
    fault: counters(() => ({ rejected: 0 })),
    fails: ["overload.counted"],
  },
  {
    name: "503 without Retry-After",
    fault: header("retry-after", () => undefined),
    fails: ["overload.refused"],
  },
  {
    name: "503 with a minute to wait",
    fault: header("retry-after", (value) => (value === undefined ? undefined : "60")),
    fails: ["overload.refused"],
  },
  { name: "429 for a full queue", fault: statusWhere(503, 429), fails: ["overload.refused"] },
  {
    name: "models in a data envelope",
    fault: json("/v1/models", (body) => {
      const models = body.get("models");
      body.clear();
      body.set("object", "list");
      body.set("data", models ?? []);
    }),
    fails: ["models.list", "models.schema", "model.same-everywhere"],
  },
  {
    name: "models without a task",
    fault: listedModel((model) => {
      model.delete("task");
      model.set("description", "x");
    }),
    fails: ["models.names-model", "models.schema"],
  },
  {
    name: "a model by its bare name",
    fault: listedModel((model) => void model.set("name", "Fast-1M")),
    fails: ["model.same-everywhere"],
  },
  {
    name: "an alias listed that is not accepted",
    fault: listedModel((model) => {
      const aliases = model.get("aliases");
      if (Array.isArray(aliases)) aliases.push("latest");
    }),
    fails: ["model.short-alias", "model.listed-aliases", "model.same-everywhere"],
  },
  {
    name: "a release date in words",
    fault: listedModel((model) => void model.set("release_date", "November 2026")),
    fails: ["models.schema"],
  },
  {
    name: "/docs is not there",
    fault: refuseWhere(404, ({ url }) => url === "/docs"),
    fails: ["routes.methods", "routes.head", "headers.request-id-kept", "docs.docs", "docs.own-assets"],
  },
  {
    name: "a script from elsewhere",
    fault: {
      send: (a, { url }) =>
        rewrite(a, url === "/redoc", (text) =>
          text.replace("</body>", '<script src="https://cdn.example.org/redoc.js"></script></body>'),
        ),
    },
    fails: ["docs.own-assets"],
  },
  {
    name: "a document without one of the operations",
    fault: json("/openapi.json", (body) => void inner(body, "paths").delete("/v1/rank")),
    fails: ["docs.openapi", "docs.openapi-contract"],
  },
  {
    name: "a document that lacks a status",
    fault: json(
      "/openapi.json",
      (body) => void inner(body, "paths", "/v1/rank", "post", "responses").delete("413"),
    ),
    fails: ["docs.openapi-contract"],
  },
  {
    name: "h2c accepted",
    fault: {
      plant: (app) => {
        const onUpgrade = (_request: IncomingMessage, socket: import("node:stream").Duplex) => {
          socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
        };
        app.server.on("upgrade", onUpgrade);
        return () => app.server.off("upgrade", onUpgrade);
      },
    },
    fails: ["wire.h2c"],
  },
  {
    name: "Node's own answer to broken messages",
    fault: {
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
    fails: ["wire.broken", "wire.huge-head"],
  },
  {
    name: "the body of an early answer read as the next request",
    fault: beforehand((request, response) => {
      if (request.method === "PUT" && Number(request.headers["content-length"]) > 0)
        response.on("finish", () => {
          request.socket.write(
            'HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{"detail":"No"}',
          );
        });
    }),
    fails: ["wire.early-answers"],
  },
  {
    name: "the connection cut after an early answer",
    fault: beforehand((request, response) => {
      if (request.url === "/nowhere/hidden" || (request.url === "/nowhere" && request.method === "POST"))
        response.on("finish", () => request.socket.destroy());
    }),
    fails: ["wire.early-answers"],
  },
  {
    name: "Expect: 100-continue left waiting",
    fault: refuseWhere(400, ({ headers }) => headers.expect !== undefined),
    fails: ["wire.expect-continue"],
  },
  {
    name: "chunked bodies refused",
    fault: refuseWhere(411, ({ headers }) => headers["transfer-encoding"] !== undefined),
    fails: ["wire.broken", "wire.chunked"],
  },
  {
    name: "a score that drifts with time",
    fault: eachScore((score) => {
      calls += 1;
      return score + calls * 1e-6;
    }),
    fails: ["scores.again.bits", "scores.order.bits"],
    only: ["scores.again", "scores.order"],
  },
  {
    name: "scores with noise in the last digits",
    fault: eachScore((score) => score * (1 + (Math.random() - 0.5) * 1e-5)),
    fails: ["scores.again.bits", "scores.order.bits"],
    only: ["scores.again", "scores.order"],
  },
  {
    name: "scores that are far off at random",
    fault: eachScore((score) => score + Math.random() * 5),
    fails: ["scores.again", "scores.again.bits", "scores.order", "scores.order.bits"],
    only: ["scores.again", "scores.order"],
  },
  {
    name: "scores that depend on the number of candidates",
    fault: eachScore((score, { count }) => score + count / 2),
    fails: ["scores.candidates", "scores.candidates.bits"],
  },
  {
    name: "scores that depend on the place of the candidate",
    fault: eachScore((score, { index }) => score - index / 2),
    fails: [
      "scores.candidates",
      "scores.candidates.bits",
      "scores.criteria-order",
      "scores.criteria-order.bits",
    ],
  },
  {
    name: "scores that depend on the place of the question",
    fault: eachScore((score, { place }) => score + place),
    fails: [
      "usage.cached-pairs",
      "scores.alone",
      "scores.alone.bits",
      "scores.order",
      "scores.order.bits",
      "scores.company",
      "scores.company.bits",
      "scores.concurrency",
      "scores.concurrency.bits",
    ],
  },
  {
    name: "scores normalized over the request",
    fault: {
      scores: (scored) => {
        const all = scored.scores.flatMap((row) => [...row]);
        const mean = all.reduce((a, b) => a + b, 0) / all.length;
        return { ...scored, scores: scored.scores.map((row) => row.map((score) => score - mean)) };
      },
    },
    fails: [
      "scores.alone",
      "scores.alone.bits",
      "scores.concurrency",
      "scores.concurrency.bits",
      "scores.candidates",
      "scores.candidates.bits",
    ],
  },
  {
    name: "scores that ignore the question",
    fault: {
      texts: (request) => ({
        ...request,
        questions: request.questions.map((one) => ({ ...one, question: { ...one.question, text: "q" } })),
      }),
    },
    fails: ["scores.depend-on-all", "texts.only-state-holds-json", "limits.tokens.each-question"],
  },
  {
    name: "padding that changes scores in company",
    fault: {
      scores: (scored, request) => {
        const longest = Math.max(...request.questions.map(({ question }) => question.text.length));
        return { ...scored, scores: scored.scores.map((row) => row.map((score) => score + longest * 1e-6)) };
      },
    },
    fails: ["scores.alone.bits", "scores.concurrency.bits"],
  },
  {
    name: "answers of two requests mixed up under load",
    fault: (() => {
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
    fails: ["scores.concurrency", "scores.concurrency.bits"],
    only: ["scores.concurrency"],
  },
  {
    name: "any key accepted",
    fault: letIn(({ headers: { authorization = "" } }) => /^Bearer .../.test(authorization)),
    hasKey: true,
    fails: ["auth.wrong"],
  },
  {
    name: "no key needed for rankings",
    fault: letIn(({ url }) => url === "/v1/rank"),
    hasKey: true,
    fails: ["auth.missing", "auth.wrong", "auth.elsewhere"],
  },
  {
    name: "the beginning of a key is enough",
    fault: letIn(
      ({ headers: { authorization = "" } }) =>
        `Bearer ${KEY}`.startsWith(authorization) && authorization.length > 12,
    ),
    hasKey: true,
    fails: ["auth.wrong"],
  },
  {
    name: "the key in the query too",
    fault: letIn(({ url }) => url?.includes(KEY) === true),
    hasKey: true,
    fails: ["auth.elsewhere"],
  },
  {
    name: "x-api-key too",
    fault: letIn(({ headers }) => headers["x-api-key"] !== undefined),
    hasKey: true,
    fails: ["auth.elsewhere"],
  },
  {
    name: "403 in place of 401",
    fault: statusWhere(401, 403),
    hasKey: true,
    fails: ["auth.missing", "auth.wrong", "auth.before-body"],
  },
  {
    name: "401 without its challenge",
    fault: header("www-authenticate", () => undefined),
    hasKey: true,
    fails: ["auth.challenge"],
  },
  {
    name: "the wrong key in the error",
    fault: errors(
      (body, answer, { headers }) =>
        void (answer.status === 401 && body.set("detail", `${headers.authorization} is wrong.`)),
    ),
    hasKey: true,
    fails: ["auth.challenge"],
  },
  {
    name: "a key for /health",
    fault: early(
      ({ url, headers: { authorization } }) =>
        url === "/health" && authorization !== undefined && !authorization.includes(KEY),
      (response) => refuse(response, 401, undefined, { "www-authenticate": "Bearer" }),
    ),
    hasKey: true,
    fails: ["auth.open-routes"],
  },
  {
    name: "the body before the key",
    fault: early(
      ({ method, headers }) =>
        method === "POST" &&
        headers.authorization === undefined &&
        headers["content-type"] !== "application/json",
      (response) => refuse(response, 422, '{"detail":[{"loc":["body"],"msg":"No.","type":"media_type"}]}'),
    ),
    hasKey: true,
    fails: ["auth.before-body"],
  },
];
