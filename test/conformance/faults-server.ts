import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, WireAnswer } from "./faulty-service.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { inner, readTree, type TreeMap, writeTree } from "./tree.ts";

/** Changes JSON bodies of errors. */
function errors(
  change: (body: TreeMap, answer: WireAnswer, request: IncomingMessage) => void,
  from = 400,
): Fault {
  return {
    send: (answer, request) => {
      if (answer.status < from || answer.body === undefined || answer.body === "") return;
      const body = readTree(answer.body);
      if (!(body instanceof Map)) return;
      change(body, answer, request);
      answer.body = writeTree(body);
    },
  };
}
function issues(change: (issue: TreeMap) => void): Fault {
  return errors((body) => {
    const detail = body.get("detail");
    if (Array.isArray(detail)) for (const issue of detail) if (issue instanceof Map) change(issue);
  });
}
function json(path: string, change: (body: TreeMap) => void): Fault {
  return {
    send: (answer, request) => {
      const isMeant =
        request.method === "GET" && answer.status === 200 && request.url?.split("?")[0] === path;
      if (!isMeant || answer.body === undefined) return;
      const body = readTree(answer.body);
      if (!(body instanceof Map)) return;
      change(body);
      answer.body = writeTree(body);
    },
  };
}
const both = (one: Fault, other: Fault): Fault => ({
  send: (answer, request) => {
    one.send?.(answer, request);
    other.send?.(answer, request);
  },
});
const header = (
  name: string,
  change: (value: string | undefined, answer: WireAnswer, request: IncomingMessage) => string | undefined,
): Fault => ({
  send: (answer, request) => {
    const value = change(answer.headers[name], answer, request);
    if (value === undefined) delete answer.headers[name];
    else answer.headers[name] = value;
  },
});
const health = (change: (body: TreeMap) => void) => both(json("/health", change), json("/ready", change));
const become = (answer: WireAnswer, isMeant: boolean | undefined, status: number) => {
  if (isMeant === true) answer.status = status;
};
const rewrite = (answer: WireAnswer, isMeant: boolean | undefined, change: (text: string) => string) => {
  if (isMeant === true && answer.body !== undefined) answer.body = change(answer.body);
};
const statusWhere = (from: number, to: number): Fault => ({
  send: (answer) => become(answer, answer.status === from, to),
});
let lastText = "";
let calls = 0;

/** Mistakes of the service around its answers. */
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
    fails: [],
  },
  {
    name: "404 in Fastify's own words",
    fault: {
      send: (a) => {
        if (a.status === 404) a.body = '{"message":"Route not found","error":"Not Found","statusCode":404}';
      },
    },
    fails: [],
  },
  { name: "404 in place of 405", fault: statusWhere(405, 404), fails: [] },
  { name: "405 without Allow", fault: header("allow", () => undefined), fails: [] },
  {
    name: "405 that allows everything",
    fault: header("allow", (value) => (value === undefined ? undefined : "GET, POST, OPTIONS")),
    fails: [],
  },
  { name: "400 in place of 422", fault: statusWhere(422, 400), fails: [] },
  {
    name: "400 for broken JSON",
    fault: { send: (a) => become(a, a.status === 422 && a.body?.includes('"invalid_json"'), 400) },
    fails: [],
  },
  {
    name: "415 for another media type",
    fault: { send: (a) => become(a, a.status === 422 && a.body?.includes('"media_type"'), 415) },
    fails: [],
  },
  { name: "any media type taken", fault: { takesAnyType: true }, fails: [] },
  { name: "400 in place of 413", fault: statusWhere(413, 400), fails: [] },
  { name: "422 in place of 413", fault: statusWhere(413, 422), fails: [] },
  {
    name: "detail of a 422 as a sentence",
    fault: errors(
      (body, { status }) => void (status === 422 && body.set("detail", "The request is not valid.")),
    ),
    fails: [],
  },
  {
    name: "detail named message",
    fault: errors((body) => {
      const detail = body.get("detail");
      body.clear();
      body.set("message", detail ?? null);
    }),
    fails: [],
  },
  {
    name: "a code beside detail",
    fault: errors((body, { status }) => void (status === 422 && body.set("code", 422))),
    fails: [],
  },
  {
    name: "loc without body in front",
    fault: issues((issue) => {
      const loc = issue.get("loc");
      if (Array.isArray(loc)) issue.set("loc", loc.slice(1));
    }),
    fails: [],
  },
  { name: "loc that ends at the body", fault: issues((issue) => void issue.set("loc", ["body"])), fails: [] },
  {
    name: "loc as a text",
    fault: issues((issue) => {
      const loc = issue.get("loc");
      if (Array.isArray(loc)) issue.set("loc", loc.join("."));
    }),
    fails: [],
  },
  {
    name: "positions in loc as strings",
    fault: issues((issue) => {
      const loc = issue.get("loc");
      if (Array.isArray(loc)) issue.set("loc", loc.map(String));
    }),
    fails: [],
  },
  {
    name: "pydantic's words for types",
    fault: issues((issue) => void issue.set("type", "value_error")),
    fails: [],
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
    fails: [],
  },
  {
    name: "the request's value beside an issue",
    fault: issues((issue) => void issue.set("input", "value")),
    fails: [],
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
    fails: [],
  },
  {
    name: "the path in a 404",
    fault: errors(
      (body, answer, { url }) => void (answer.status === 404 && body.set("detail", `Nothing at ${url}.`)),
    ),
    fails: [],
  },
  {
    name: "thousands of issues",
    fault: errors((body) => {
      const detail = body.get("detail");
      if (Array.isArray(detail) && detail.length >= 20) body.set("detail", [...detail, ...detail]);
    }),
    fails: [],
  },
  {
    name: "whole names in loc",
    fault: {
      reply: (reply, { body }) => {
        const name = /"(n{101,})"/.exec(Buffer.from(body).toString())?.[1];
        return name === undefined ? reply : { ...reply, body: reply.body.replace(/n{100}/, name) };
      },
    },
    fails: [],
  },
  {
    name: "token limits without their numbers",
    fault: issues(
      (issue) => void (issue.get("type") === "too_many_tokens" && issue.set("msg", "The text is too long.")),
    ),
    fails: [],
  },
  {
    name: "a token limit that is one too high",
    fault: {
      send: (a) =>
        rewrite(a, a.status === 422 && a.body?.includes("too_many_tokens"), (text) =>
          text.replaceAll("2048", "2049"),
        ),
    },
    fails: [],
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
    fails: [],
  },
  {
    name: "a stack trace in errors",
    fault: errors((body, { status }) => void (status === 404 && body.set("stack", "Error: at server.js:1"))),
    fails: [],
  },
  { name: "no x-request-id", fault: header("x-request-id", () => undefined), fails: [] },
  {
    name: "no x-request-id with errors",
    fault: header("x-request-id", (id, { status }) => (status >= 400 ? undefined : id)),
    fails: [],
  },
  {
    name: "the caller's x-request-id not kept",
    fault: header("x-request-id", () => crypto.randomUUID()),
    fails: [],
  },
  {
    name: "any x-request-id kept",
    fault: header("x-request-id", (id, _a, { headers }) => {
      const given = headers["x-request-id"];
      return typeof given === "string" && /^[\x20-\x7e]+$/.test(given) ? given : id;
    }),
    fails: [],
  },
  {
    name: "the same x-request-id for everybody",
    fault: header("x-request-id", (id, _a, { headers }) =>
      id === headers["x-request-id"] ? id : "request-1",
    ),
    fails: [],
  },
  { name: "no server-timing", fault: header("server-timing", () => undefined), fails: [] },
  {
    name: "server-timing without the queue",
    fault: header("server-timing", (value) => value?.replace(/queue;dur=[\d.]+, /, "")),
    fails: [],
  },
  {
    name: "server-timing in seconds",
    fault: header("server-timing", (value) =>
      value?.replaceAll(/dur=([\d.]+)/g, (_all, ms) => `dur=${(Number(ms) / 1000).toFixed(6)}`),
    ),
    fails: [],
  },
  {
    name: "answers as text/plain",
    fault: header("content-type", (value, { status }) =>
      status === 200 && value?.startsWith("application/json") ? "text/plain" : value,
    ),
    fails: [],
  },
  {
    name: "errors as text/plain",
    fault: header("content-type", (value, { status }) => (status === 422 ? "text/plain" : value)),
    fails: [],
  },
  {
    name: "a slash at the end is the same path",
    fault: {
      early: (request) => {
        request.url = request.url?.replace(/^(\/[a-z0-9/]+)\/$/, "$1") ?? "";
        return false;
      },
    },
    fails: [],
  },
  {
    name: "paths in any capitals",
    fault: {
      early: (request) => {
        if (/^\/v1\/systemone$|^\/health$/i.test(request.url ?? ""))
          request.url = request.url?.toLowerCase() ?? "";
        return false;
      },
    },
    fails: [],
  },
  {
    name: "a redirect for a slash at the end",
    fault: {
      early: (request, response) => {
        if (!/^\/(v1|health)\/.*\/$|^\/health\/$/.test(request.url ?? "")) return false;
        request.resume();
        response.writeHead(307, { location: "/health", "content-length": "0" }).end();
        return true;
      },
    },
    fails: [],
  },
  {
    name: "queries refused",
    fault: {
      early: (request, response) => {
        if (!request.url?.includes("?")) return false;
        request.resume();
        response
          .writeHead(404, { "content-type": "application/json", "x-request-id": "q" })
          .end('{"detail":"No."}');
        return true;
      },
    },
    fails: [],
  },
  {
    name: "/ready without counters",
    fault: json("/ready", (body) => {
      const status = body.get("status");
      body.clear();
      body.set("status", status ?? "");
    }),
    fails: [],
  },
  {
    name: "/ready is not there",
    fault: {
      early: (request, response) => {
        if (request.url !== "/ready") return false;
        response
          .writeHead(404, { "content-type": "application/json", "x-request-id": "q" })
          .end('{"detail":"No."}');
        return true;
      },
    },
    fails: [],
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
    fails: [],
  },
  { name: "/health without limits", fault: health((body) => void body.delete("limits")), fails: [] },
  {
    name: "/health with a member more",
    fault: health((body) => void body.set("hostname", "server-1")),
    fails: [],
  },
  {
    name: "/health with counters as texts",
    fault: health((body) => void body.set("completed_requests", String(body.get("completed_requests")))),
    fails: [],
  },
  {
    name: "/health names another limit",
    fault: health((body) => void inner(body, "limits").set("max_pairs", 512)),
    fails: [],
  },
  {
    name: "/health with another temperature",
    fault: health((body) => void body.set("temperature", 1)),
    fails: [],
  },
  {
    name: "/health names the model without revision",
    fault: health((body) => void body.set("model", String(body.get("model")).split("@")[0] ?? "")),
    fails: [],
  },
  { name: "status ok", fault: health((body) => void body.set("status", "ok")), fails: [] },
  {
    name: "/ready is 503 while ready",
    fault: { send: (a, { url, method }) => become(a, url === "/ready" && method === "GET", 503) },
    fails: [],
  },
  {
    name: "completed_requests counts refusals too",
    fault: {
      reply: (reply, call) => {
        if (call.operationId !== "getHealth" && reply.status >= 400) calls += 1;
        return reply;
      },
      health: (h) => ({ ...h, counters: { ...h.counters, completed: h.counters.completed + calls } }),
    },
    fails: [],
  },
  {
    name: "completed_requests counts every second",
    fault: {
      health: (h) => ({ ...h, counters: { ...h.counters, completed: Math.floor(h.counters.completed / 2) } }),
    },
    fails: [],
  },
  {
    name: "completed_requests counts pairs",
    fault: { health: (h) => ({ ...h, counters: { ...h.counters, completed: h.counters.completed * 2 } }) },
    fails: [],
  },
  {
    name: "model_batches stands still",
    fault: { health: (h) => ({ ...h, counters: { ...h.counters, batches: 3 } }) },
    fails: [],
  },
  {
    name: "failed_requests counts 422s",
    fault: {
      reply: (reply) => {
        if (reply.status === 422) calls += 1;
        return reply;
      },
      health: (h) => ({ ...h, counters: { ...h.counters, failed: calls } }),
    },
    fails: [],
  },
  {
    name: "running_requests never falls",
    fault: { health: (h) => ({ ...h, counters: { ...h.counters, running: 1 } }) },
    fails: [],
  },
  {
    name: "rejected_requests stays 0",
    fault: { health: (h) => ({ ...h, counters: { ...h.counters, rejected: 0 } }) },
    fails: [],
  },
  { name: "503 without Retry-After", fault: header("retry-after", () => undefined), fails: [] },
  {
    name: "503 with a minute to wait",
    fault: header("retry-after", (value) => (value === undefined ? undefined : "60")),
    fails: [],
  },
  { name: "429 for a full queue", fault: statusWhere(503, 429), fails: [] },
  {
    name: "models in a data envelope",
    fault: json("/v1/models", (body) => {
      const models = body.get("models");
      body.clear();
      body.set("object", "list");
      body.set("data", models ?? []);
    }),
    fails: [],
  },
  {
    name: "models without a task",
    fault: json("/v1/models", (body) => {
      const models = body.get("models");
      if (Array.isArray(models) && models[0] instanceof Map) {
        models[0].delete("task");
        models[0].set("description", "x");
      }
    }),
    fails: [],
  },
  {
    name: "a model by its bare name",
    fault: json("/v1/models", (body) => {
      const models = body.get("models");
      if (Array.isArray(models) && models[0] instanceof Map) models[0].set("name", "Fast-1M");
    }),
    fails: [],
  },
  {
    name: "an alias listed that is not accepted",
    fault: json("/v1/models", (body) => {
      const models = body.get("models");
      const aliases = Array.isArray(models) && models[0] instanceof Map ? models[0].get("aliases") : [];
      if (Array.isArray(aliases)) aliases.push("latest");
    }),
    fails: [],
  },
  {
    name: "a release date in words",
    fault: json("/v1/models", (body) => {
      const models = body.get("models");
      if (Array.isArray(models) && models[0] instanceof Map) models[0].set("release_date", "November 2026");
    }),
    fails: [],
  },
  {
    name: "/docs is not there",
    fault: {
      early: (request, response) => {
        if (request.url !== "/docs") return false;
        response
          .writeHead(404, { "content-type": "application/json", "x-request-id": "q" })
          .end('{"detail":"No."}');
        return true;
      },
    },
    fails: [],
  },
  {
    name: "a script from elsewhere",
    fault: {
      send: (a, { url }) =>
        rewrite(a, url === "/redoc", (text) =>
          text.replace("</body>", '<script src="https://cdn.example.org/redoc.js"></script></body>'),
        ),
    },
    fails: [],
  },
  {
    name: "a document without one of the operations",
    fault: json("/openapi.json", (body) => void inner(body, "paths").delete("/v1/rank")),
    fails: [],
  },
  {
    name: "a document that lacks a status",
    fault: json(
      "/openapi.json",
      (body) => void inner(body, "paths", "/v1/rank", "post", "responses").delete("413"),
    ),
    fails: [],
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
    fails: [],
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
    fails: [],
  },
  {
    name: "the body of an early answer read as the next request",
    fault: {
      early: (request, response) => {
        if (request.method === "PUT" && Number(request.headers["content-length"]) > 0)
          response.on("finish", () => {
            request.socket.write(
              'HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{"detail":"No"}',
            );
          });
        return false;
      },
    },
    fails: [],
  },
  {
    name: "the connection cut after an early answer",
    fault: {
      early: (request, response) => {
        if (request.url === "/nowhere/hidden" || (request.url === "/nowhere" && request.method === "POST"))
          response.on("finish", () => request.socket.destroy());
        return false;
      },
    },
    fails: [],
  },
  {
    name: "Expect: 100-continue left waiting",
    fault: {
      early: (request, response) => {
        if (request.headers.expect === undefined) return false;
        response.writeHead(400, { "content-type": "application/json" }).end('{"detail":"No"}');
        return true;
      },
    },
    fails: [],
  },
  {
    name: "chunked bodies refused",
    fault: {
      early: (request, response) => {
        if (request.headers["transfer-encoding"] === undefined) return false;
        request.resume();
        response
          .writeHead(411, { "content-type": "application/json", "x-request-id": "q" })
          .end('{"detail":"A length is required."}');
        return true;
      },
    },
    fails: [],
  },
  {
    name: "a score that drifts with time",
    fault: {
      scores: (scored) => {
        calls += 1;
        return { ...scored, scores: scored.scores.map((row) => row.map((score) => score + calls * 1e-5)) };
      },
    },
    fails: [],
  },
  {
    name: "scores with noise in the last digits",
    fault: {
      scores: (scored) => ({
        ...scored,
        scores: scored.scores.map((row) => row.map((score) => score * (1 + (Math.random() - 0.5) * 1e-5))),
      }),
    },
    fails: [],
  },
  {
    name: "scores that are far off at random",
    fault: {
      scores: (scored) => ({
        ...scored,
        scores: scored.scores.map((row) => row.map((score) => score + Math.random() * 5)),
      }),
    },
    fails: [],
  },
  {
    name: "scores that depend on the number of candidates",
    fault: {
      scores: (scored) => ({
        ...scored,
        scores: scored.scores.map((row) => row.map((score) => score + row.length / 2)),
      }),
    },
    fails: [],
  },
  {
    name: "scores that depend on the place of the candidate",
    fault: {
      scores: (scored) => ({
        ...scored,
        scores: scored.scores.map((row) => row.map((score, index) => score - index / 2)),
      }),
    },
    fails: [],
  },
  {
    name: "scores that depend on the place of the question",
    fault: {
      scores: (scored) => ({
        ...scored,
        scores: scored.scores.map((row, place) => row.map((score) => score + place)),
      }),
    },
    fails: [],
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
    fails: [],
  },
  {
    name: "scores that ignore the question",
    fault: {
      texts: (request) => ({
        ...request,
        questions: request.questions.map((one) => ({ ...one, question: { ...one.question, text: "q" } })),
      }),
    },
    fails: [],
  },
  {
    name: "padding that changes scores in company",
    fault: {
      scores: (scored, request) => {
        const longest = Math.max(...request.questions.map(({ question }) => question.text.length));
        return { ...scored, scores: scored.scores.map((row) => row.map((score) => score + longest * 1e-6)) };
      },
    },
    fails: [],
  },
  {
    name: "answers of two requests mixed up under load",
    fault: (() => {
      let running = 0;
      return {
        reply: async (reply, call) => {
          running += 1;
          await sleep(1);
          const others = running;
          running -= 1;
          if (others < 5 || reply.status !== 200 || call.operationId !== "systemone") return reply;
          return {
            ...reply,
            body: reply.body.replaceAll(/"scores":\{"([^"]*)":(-?\d)/g, '"scores":{"$1":$21'),
          };
        },
      } satisfies Fault;
    })(),
    fails: [],
  },
  {
    name: "any key accepted",
    fault: {
      early: (request) => {
        if (
          request.headers.authorization?.startsWith("Bearer ") === true &&
          request.headers.authorization.length > 9
        )
          setKey(request);
        return false;
      },
    },
    hasKey: true,
    fails: [],
  },
  {
    name: "no key needed for rankings",
    fault: {
      early: (request) => {
        if (request.url === "/v1/rank") setKey(request);
        return false;
      },
    },
    hasKey: true,
    fails: [],
  },
  {
    name: "the beginning of a key is enough",
    fault: {
      early: (request) => {
        const given = request.headers.authorization ?? "";
        if (`Bearer ${"the-key-of-the-faults"}`.startsWith(given) && given.length > 12) setKey(request);
        return false;
      },
    },
    hasKey: true,
    fails: [],
  },
  {
    name: "the key in the query too",
    fault: {
      early: (request) => {
        if (request.url?.includes("the-key-of-the-faults")) setKey(request);
        return false;
      },
    },
    hasKey: true,
    fails: [],
  },
  {
    name: "x-api-key too",
    fault: {
      early: (request) => {
        if (request.headers["x-api-key"] !== undefined) setKey(request);
        return false;
      },
    },
    hasKey: true,
    fails: [],
  },
  { name: "403 in place of 401", fault: statusWhere(401, 403), hasKey: true, fails: [] },
  {
    name: "401 without its challenge",
    fault: header("www-authenticate", () => undefined),
    hasKey: true,
    fails: [],
  },
  {
    name: "the wrong key in the error",
    fault: errors(
      (body, answer, { headers }) =>
        void (answer.status === 401 && body.set("detail", `${headers.authorization} is wrong.`)),
    ),
    hasKey: true,
    fails: [],
  },
  {
    name: "a key for /health",
    fault: {
      early: (request, response) => {
        if (
          request.url !== "/health" ||
          request.headers.authorization === undefined ||
          request.headers.authorization.includes("the-key")
        )
          return false;
        response
          .writeHead(401, {
            "content-type": "application/json",
            "x-request-id": "q",
            "www-authenticate": "Bearer",
          })
          .end('{"detail":"No."}');
        return true;
      },
    },
    hasKey: true,
    fails: [],
  },
  {
    name: "the body before the key",
    fault: {
      early: (request, response) => {
        if (
          request.method !== "POST" ||
          request.headers.authorization !== undefined ||
          request.headers["content-type"] === "application/json"
        )
          return false;
        request.resume();
        response
          .writeHead(422, { "content-type": "application/json", "x-request-id": "q" })
          .end('{"detail":[{"loc":["body"],"msg":"No.","type":"media_type"}]}');
        return true;
      },
    },
    hasKey: true,
    fails: [],
  },
];

/** Gives a request the right key. */
function setKey(request: IncomingMessage): void {
  request.headers.authorization = "Bearer the-key-of-the-faults";
  const { rawHeaders } = request;
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2)
    if (rawHeaders[index]?.toLowerCase() === "authorization") rawHeaders.splice(index, 2);
  rawHeaders.push("Authorization", "Bearer the-key-of-the-faults");
}
