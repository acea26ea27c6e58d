import { excerpt } from "../../client/exchange.ts";
import { at, show } from "../../client/json.ts";
import { type Check, checksOf, keylessChecksOf } from "../../trial/check.ts";
import { OPERATIONS, RANK, SMALL, SMALL_RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";

const GETS = ["/health", "/ready", "/v1/models", "/docs", "/redoc", "/openapi.json"];
const POSTS = [SYSTEMONE, RANK];
const UNKNOWN = [
  ...["/", "/v1", "/v1/", "/v2/systemone", "/systemone", "/v1/systemone/", "/v1/rank/", "/health/"],
  ...["/v1/models/", "/V1/systemone", "/v1/SystemOne", "/Health", "//health", "/v1//systemone"],
  ...["/v1/systemone.json", "/favicon.ico", "/v1/chat/completions", "/v1/models/x", "/__proto__"],
  ...["/v1/../health", "/docs/../package.json", "/v1%2fsystemone"],
];
const ID = /^[A-Za-z0-9._-]{1,128}$/;
const VALID_IDS = ["a", "A-b.c_9", "0".repeat(128), "..."];
const OTHER_IDS = ["a b", "a,b", "0".repeat(129), "a/b", "<script>", '"a"', "a;b", "a:b"];

/** Checks of paths, methods and the headers of every answer. */
export const ROUTE_CHECKS: readonly Check[] = [
  ...checksOf("interface: paths", {
    "routes.operations": {
      clause: "The two inference operations are POST /v1/systemone and POST /v1/rank.",
      expected: "200 for a small request to each",
      run: (trial) => trial.each(OPERATIONS, ({ path, body }) => trial.infer(path, body)),
    },
  }),
  ...keylessChecksOf("contract: Errors", {
    "routes.unknown": {
      clause: "An unknown path is answered with 404.",
      expected:
        "404 with a string `detail` for a trailing slash, another letter case and other paths, with any method",
      run: (trial) =>
        trial.each(routes(UNKNOWN, ["GET", "POST"]), (route) => expectRefused(trial, route, 404)),
    },
    "routes.methods": {
      clause:
        "A method that a path does not support is answered with 405, and `Allow` lists the supported ones.",
      expected: "405, `Allow: POST` for the operations, `GET` in it for the others",
      run: (trial: Trial) => {
        const cases = [
          ...routes(POSTS, ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"]),
          ...routes(GETS, ["POST", "PUT", "DELETE"]),
        ];
        return trial.each(cases, async (route) => {
          const reply = await expectRefused(trial, route, 405);
          const allow = POSTS.includes(route.path) ? /^POST$/ : /^GET(, HEAD)?$|^HEAD, GET$/;
          trial.expect(allow.test(reply.headers.allow ?? ""), `allow is ${reply.headers.allow}`, reply);
        });
      },
    },
    "routes.head": {
      clause: "HEAD is answered like GET but without a body, or with 405.",
      expected: "200 or 405 for the GET paths, 405 for the POST paths, never a body",
      run: (trial: Trial) =>
        trial.each(routes([...GETS, ...POSTS], ["HEAD"]), async ({ method, path }) => {
          const reply = await trial.call(method, path);
          trial.status(reply, POSTS.includes(path) ? 405 : [200, 405]);
          const isAllowed = reply.status !== 405 || reply.headers.allow !== undefined;
          trial.expect(isAllowed, "405 without `Allow`", reply);
          trial.expect(reply.text === "", `a body of ${reply.text.length} characters`, reply);
        }),
    },
  }),
  ...checksOf("contract: paths", {
    "routes.query": {
      clause: "A query string is ignored.",
      expected: "the answer of the path without a query",
      run: async (trial) => {
        for (const path of ["/health?x=1", "/v1/models?", "/openapi.json?a=b&a=c"])
          trial.status(await trial.get(path), 200);
        await trial.infer(`${RANK}?x=1`, SMALL_RANK);
        await trial.infer(`${SYSTEMONE}?state=x&model=y`, SMALL);
      },
    },
  }),
  ...keylessChecksOf("contract: Headers", {
    "headers.request-id": {
      clause: "Every answer carries `x-request-id`.",
      expected: "an id that matches [A-Za-z0-9._-]{1,128}, in each answer of the run",
      turn: "last",
      run: async (trial: Trial) => {
        for (const path of [...GETS, "/nowhere", RANK]) await trial.get(path);
        await trial.post(RANK, SMALL_RANK);
        await trial.post(RANK, "{");
        for (const reply of trial.seen) {
          const id = reply.headers["x-request-id"];
          const where = `${reply.status}, ${reply.request.method} ${reply.request.path}`;
          trial.expect(ID.test(id ?? ""), `x-request-id is ${show(id)} with ${where}`, reply);
        }
      },
    },
    "headers.request-id-kept": {
      clause: "The caller's `x-request-id` is returned if it matches [A-Za-z0-9._-]{1,128}.",
      expected: "the same id in the answer, whatever its status",
      run: (trial) =>
        trial.each(VALID_IDS, async (id) => {
          for (const reply of await answersWith(trial, id))
            trial.equal(`x-request-id with ${reply.status}`, reply.headers["x-request-id"], id, reply);
        }),
    },
    "headers.request-id-replaced": {
      clause: "Any other `x-request-id` is replaced by a new one.",
      expected: "a matching id other than the one sent, and a different one in each answer",
      run: (trial: Trial) =>
        trial.each(OTHER_IDS, async (id) => {
          const replies = await answersWith(trial, id);
          const ids = replies.map(({ headers }) => headers["x-request-id"] ?? "");
          for (const [at, came] of ids.entries())
            trial.expect(ID.test(came) && came !== id, `x-request-id is ${show(came)}`, replies[at]);
          trial.expect(new Set(ids).size === ids.length, `the same new id twice: ${ids[0]}`, replies[0]);
        }),
    },
    "headers.request-id-new": {
      clause: "Without an `x-request-id`, each answer gets a new one.",
      expected: "no id twice among 20 answers",
      run: async (trial: Trial) => {
        const replies = await Promise.all(Array.from({ length: 20 }, () => trial.get("/health")));
        const ids = new Set(replies.map(({ headers }) => headers["x-request-id"]));
        const areNew = ids.size === replies.length || ids.has(undefined);
        trial.expect(areNew, `${ids.size} ids in 20 answers`, replies[0]);
      },
    },
  }),
  ...checksOf("contract: Headers", {
    "headers.server-timing": {
      clause: "`server-timing` of an inference has queue, tokenize, inference and total, in milliseconds.",
      expected: "four durations; `total` is about `latency_ms`, and no other exceeds it",
      run: async (trial: Trial) => {
        for (const { path, body } of OPERATIONS) {
          const inferred = await trial.infer(path, body);
          const header = inferred.reply.headers["server-timing"] ?? "";
          const entries = header.matchAll(/(?<=^|,\s*)([a-z]+);\s*dur=(\d+(?:\.\d+)?)(?=\s*,|$)/g);
          const durations = new Map(Array.from(entries, ([, name, duration]) => [name, Number(duration)]));
          for (const name of ["queue", "tokenize", "inference", "total"])
            trial.expect(durations.has(name), `server-timing is ${show(header)}`, inferred);
          const total = durations.get("total") ?? 0;
          const latency = Number(inferred.json.get("latency_ms") ?? total);
          // both are the time spent on the request, but may be read at different moments
          const isNear = !(Math.abs(total - latency) > Math.max(2, 0.2 * Math.max(total, latency)));
          trial.expect(isNear, `total is ${total} ms, latency_ms ${latency}`, inferred);
          for (const [name, duration] of durations)
            trial.expect(duration <= total + 1, `${name} took ${duration} ms of ${total}`, inferred);
        }
      },
    },
  }),
];

interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

function routes(paths: readonly string[], methods: readonly string[]): readonly Route[] {
  return paths.flatMap((path) => methods.map((method) => ({ name: `${method} ${path}`, method, path })));
}

async function expectRefused(trial: Trial, { method, path }: Route, status: number) {
  const reply = await trial.call(method, path, method === "POST" ? { body: SMALL } : {});
  trial.status(reply, status);
  trial.expect(typeof at(reply.json, "detail") === "string", excerpt(reply), reply);
  return reply;
}

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
