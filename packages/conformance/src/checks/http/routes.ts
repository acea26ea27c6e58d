import { excerpt } from "../../client/exchange.ts";
import { at } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { OPERATIONS, RANK, SMALL, SMALL_RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";

const GETS = ["/health", "/ready", "/v1/models", "/docs", "/redoc", "/openapi.json"];
const POSTS = [SYSTEMONE, RANK];
const UNKNOWN = [
  "/",
  "/v1",
  "/v1/",
  "/v2/systemone",
  "/systemone",
  "/v1/systemone/",
  "/v1/rank/",
  "/health/",
  "/v1/models/",
  "/V1/systemone",
  "/v1/SystemOne",
  "/Health",
  "//health",
  "/v1//systemone",
  "/v1/systemone.json",
  "/favicon.ico",
  "/v1/chat/completions",
  "/v1/models/x",
  "/__proto__",
  "/v1/../health",
  "/docs/../package.json",
  "/v1%2fsystemone",
];
const ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Checks of paths, methods and the headers of every answer. */
export const ROUTE_CHECKS: readonly Check[] = [
  defineCheck({
    id: "routes.operations",
    clause: "The two inference operations are POST /v1/systemone and POST /v1/rank.",
    source: "interface: paths",
    expected: "200 for a small request to each",
    run: (trial: Trial) =>
      trial.each(OPERATIONS, async ({ path, body }) => {
        await trial.infer(path, body);
      }),
  }),
  defineCheck({
    id: "routes.unknown",
    clause: "An unknown path is answered with 404.",
    source: "contract: Errors",
    expected:
      "404 with a string `detail` for a trailing slash, another letter case and other paths, with any method",
    needsInference: false,
    run: async (trial: Trial) => {
      const cases = UNKNOWN.flatMap((path) =>
        ["GET", "POST"].map((method) => ({ name: `${method} ${path}`, method, path })),
      );
      await trial.each(cases, async ({ method, path }) => {
        const reply = await trial.call(method, path, method === "POST" ? { body: SMALL } : {});
        trial.expect(reply.status === 404, excerpt(reply), reply);
        trial.expect(typeof at(reply.json, "detail") === "string", excerpt(reply), reply);
      });
    },
  }),
  defineCheck({
    id: "routes.methods",
    clause:
      "A method that a path does not support is answered with 405, and `Allow` lists the supported ones.",
    source: "contract: Errors",
    expected: "405, `Allow: POST` for the operations, `GET` in it for the others",
    needsInference: false,
    run: async (trial: Trial) => {
      const cases = [
        ...POSTS.flatMap((path) =>
          ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"].map((method) => ({ method, path, allow: /^POST$/ })),
        ),
        ...GETS.flatMap((path) =>
          ["POST", "PUT", "DELETE"].map((method) => ({ method, path, allow: /^GET(, HEAD)?$|^HEAD, GET$/ })),
        ),
      ].map((one) => ({ name: `${one.method} ${one.path}`, ...one }));
      await trial.each(cases, async ({ method, path, allow }) => {
        const reply = await trial.call(method, path, method === "POST" ? { body: {} } : {});
        trial.expect(reply.status === 405, excerpt(reply), reply);
        trial.expect(
          allow.test(reply.headers.allow ?? ""),
          `allow is ${JSON.stringify(reply.headers.allow)}`,
          reply,
        );
        trial.expect(typeof at(reply.json, "detail") === "string", excerpt(reply), reply);
      });
    },
  }),
  defineCheck({
    id: "routes.query",
    clause: "A query string is ignored.",
    source: "contract: paths",
    expected: "the answer of the path without a query",
    run: async (trial: Trial) => {
      for (const path of ["/health?x=1", "/v1/models?", "/openapi.json?a=b&a=c"]) {
        const reply = await trial.get(path);
        trial.expect(reply.status === 200, excerpt(reply), reply);
      }
      await trial.infer(`${RANK}?x=1`, SMALL_RANK);
      await trial.infer(`${SYSTEMONE}?state=x&model=y`, SMALL);
    },
  }),
  defineCheck({
    id: "routes.head",
    clause: "HEAD is answered like GET but without a body, or with 405.",
    source: "contract: Errors",
    expected: "200 or 405 for the GET paths, 405 for the POST paths, never a body",
    needsInference: false,
    run: async (trial: Trial) => {
      const cases = [...GETS, ...POSTS].map((path) => ({ name: path, path }));
      await trial.each(cases, async ({ path }) => {
        const reply = await trial.call("HEAD", path);
        const statuses = POSTS.includes(path) ? [405] : [200, 405];
        trial.expect(statuses.includes(reply.status), excerpt(reply), reply);
        if (reply.status === 405)
          trial.expect(reply.headers.allow !== undefined, "405 without `Allow`", reply);
        trial.expect(reply.text === "", `a body of ${reply.text.length} characters`, reply);
      });
    },
  }),
  defineCheck({
    id: "headers.request-id",
    clause: "Every answer carries `x-request-id`.",
    source: "contract: Headers",
    expected: "an id that matches [A-Za-z0-9._-]{1,128}, in each answer of the run",
    needsInference: false,
    turn: "last",
    run: async (trial: Trial) => {
      for (const path of [...GETS, "/nowhere", RANK]) await trial.get(path);
      await trial.post(RANK, SMALL_RANK);
      await trial.post(RANK, "{");
      for (const reply of trial.seen) {
        const id = reply.headers["x-request-id"];
        const { method, url } = reply.request;
        const where = `${method} ${new URL(url).pathname}`;
        trial.expect(
          ID.test(id ?? ""),
          `x-request-id is ${JSON.stringify(id)} with ${reply.status}, ${where}`,
          reply,
        );
      }
    },
  }),
  defineCheck({
    id: "headers.request-id-kept",
    clause: "The caller's `x-request-id` is returned if it matches [A-Za-z0-9._-]{1,128}.",
    source: "contract: Headers",
    expected: "the same id in the answer, whatever its status",
    needsInference: false,
    run: async (trial: Trial) => {
      const cases = ["a", "A-b.c_9", "0".repeat(128), "..."].map((id) => ({ name: id.slice(0, 20), id }));
      await trial.each(cases, async ({ id }) => {
        for (const reply of await answersWith(trial, id))
          trial.expect(
            reply.headers["x-request-id"] === id,
            `${JSON.stringify(reply.headers["x-request-id"])} with ${reply.status}`,
            reply,
          );
      });
    },
  }),
  defineCheck({
    id: "headers.request-id-replaced",
    clause: "Any other `x-request-id` is replaced by a new one.",
    source: "contract: Headers",
    expected: "a matching id other than the one sent, and a different one in each answer",
    needsInference: false,
    run: async (trial: Trial) => {
      const given = ["a b", "a,b", "0".repeat(129), "a/b", "<script>", '"a"', "a;b", "a:b"];
      const cases = given.map((id) => ({ name: id.slice(0, 20), id }));
      await trial.each(cases, async ({ id }) => {
        const replies = await answersWith(trial, id);
        const ids = replies.map(({ headers }) => headers["x-request-id"] ?? "");
        for (const [index, came] of ids.entries())
          trial.expect(
            ID.test(came) && came !== id,
            `x-request-id is ${JSON.stringify(came)}`,
            replies[index],
          );
        trial.expect(new Set(ids).size === ids.length, `the same new id twice: ${ids[0]}`, replies[0]);
      });
    },
  }),
  defineCheck({
    id: "headers.request-id-new",
    clause: "Without an `x-request-id`, each answer gets a new one.",
    source: "contract: Headers",
    expected: "no id twice among 20 answers",
    needsInference: false,
    run: async (trial: Trial) => {
      const replies = await Promise.all(Array.from({ length: 20 }, () => trial.get("/health")));
      const ids = new Set(replies.map(({ headers }) => headers["x-request-id"]));
      trial.expect(
        ids.size === replies.length || ids.has(undefined),
        `${ids.size} ids in 20 answers`,
        replies[0],
      );
    },
  }),
  defineCheck({
    id: "headers.server-timing",
    clause: "`server-timing` of an inference has queue, tokenize, inference and total, in milliseconds.",
    source: "contract: Headers",
    expected: "four durations; `total` is about `latency_ms`, and no other exceeds it",
    run: async (trial: Trial) => {
      for (const { path, body } of OPERATIONS) {
        const inferred = await trial.infer(path, body);
        const header = inferred.reply.headers["server-timing"] ?? "";
        const entries = header
          .split(/\s*,\s*/)
          .map((entry) => /^([a-z]+);\s*dur=(\d+(?:\.\d+)?)$/.exec(entry));
        const durations = new Map(entries.map((entry) => [entry?.[1], Number(entry?.[2])]));
        for (const name of ["queue", "tokenize", "inference", "total"])
          trial.expect(durations.has(name), `server-timing is ${JSON.stringify(header)}`, inferred);
        const total = durations.get("total") ?? 0;
        const latency = inferred.json.get("latency_ms");
        // both are the time spent on the request, but may be read at different moments
        trial.expect(
          typeof latency !== "number" ||
            Math.abs(total - latency) <= Math.max(2, 0.2 * Math.max(total, latency)),
          `total is ${total} ms, latency_ms ${String(latency)}`,
          inferred,
        );
        for (const [name, duration] of durations)
          trial.expect(duration <= total + 1, `${name} took ${duration} ms of ${total}`, inferred);
      }
    },
  }),
];

/** Answers with several statuses to requests with one given request id. */
async function answersWith(trial: Trial, id: string) {
  const headers = { "x-request-id": id };
  return [
    await trial.get("/health", { headers }),
    await trial.get("/docs", { headers }),
    await trial.get("/nowhere", { headers }),
    await trial.get(RANK, { headers }),
    await trial.post(RANK, "{", { headers }),
    await trial.post(RANK, SMALL_RANK, { headers }),
  ];
}
