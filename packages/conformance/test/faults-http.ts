import type { IncomingMessage, ServerResponse } from "node:http";
import type { Fault, WireAnswer } from "./faulty-service.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { eachAnswer, eachRow, edit, editQuestions, refuseWhen } from "./planting.ts";
import {
  beforehand,
  early,
  errors,
  header,
  issues,
  json,
  refuse,
  refuseWhere,
  rewrite,
} from "./planting-http.ts";
import { inner, type TreeMap } from "./tree.ts";

const isPost = ({ method }: IncomingMessage) => method === "POST";
const mediaType = ({ headers }: IncomingMessage) => headers["content-type"] ?? "";
/** Has the service read a media type as another one. */
const readAs = (isMeant: (type: string | undefined) => boolean): Fault =>
  beforehand((request) => {
    if (!isPost(request) || !isMeant(request.headers["content-type"])) return;
    request.headers["content-type"] = "application/json";
    const { rawHeaders } = request;
    const at = rawHeaders.findIndex((name) => name.toLowerCase() === "content-type");
    if (at >= 0) rawHeaders.splice(at, 2);
    rawHeaders.push("Content-Type", "application/json");
  });
const ISSUE = '{"detail":[{"loc":["body"],"msg":"Expected application/json.","type":"media_type"}]}';
const refuseType = (isMeant: (request: IncomingMessage) => boolean): Fault =>
  early(
    (request) => isPost(request) && isMeant(request),
    (response) => refuse(response, 422, ISSUE, { "x-decision-error": "INVALID_REQUEST" }),
  );
const renameIssue = (from: string, to: string): Fault =>
  issues((issue) => void (issue.get("type") === from && issue.set("type", to)));
const code = (
  change: (code: string, answer: WireAnswer, request: IncomingMessage) => string | undefined,
): Fault =>
  header("x-decision-error", (value, answer, request) =>
    value === undefined ? undefined : change(value, answer, request),
  );
const requestId = (change: (id: string, answer: WireAnswer) => string): Fault =>
  header("x-request-id", (id, answer) => (id === undefined ? undefined : change(id, answer)));
const answered = (
  isMeant: (request: IncomingMessage) => boolean,
  status: number,
  headers: Readonly<Record<string, string>>,
) => early(isMeant, (response) => response.writeHead(status, { "x-request-id": "q", ...headers }).end());
const isConflict = (body: TreeMap) => body.has("state") && body.get("context") != null;

/** Media types, encodings, methods, paths. */
export const ROUTE_FAULTS: readonly PlantedFault[] = [
  {
    name: "a missing media type taken for JSON",
    fault: readAs((type) => type === undefined),
    fails: ["media.others"],
  },
  {
    name: "JSON in latin1 accepted",
    fault: readAs((type = "") => /json.*charset="?iso-8859-1|json.*charset="?latin1/i.test(type)),
    fails: ["media.others"],
  },
  {
    name: "other charsets than UTF-8 accepted",
    fault: readAs((type = "") => /^application\/json.*charset=/i.test(type)),
    fails: ["media.others"],
  },
  {
    name: "kinds of JSON accepted",
    fault: readAs((type = "") => /^application\/[\w.]+\+json/.test(type)),
    fails: ["media.others"],
  },
  {
    name: "text/json accepted",
    fault: readAs((type = "") => type.startsWith("text/json")),
    fails: ["media.others"],
  },
  {
    name: "text/plain accepted",
    fault: readAs((type = "") => type.startsWith("text/plain")),
    fails: ["media.order-of-checks", "media.others"],
  },
  {
    name: "a charset in capitals refused",
    fault: refuseType((r) => /charset=UTF-8/.test(mediaType(r))),
    fails: ["media.json-spellings"],
  },
  {
    name: "a media type in capitals refused",
    fault: refuseType((r) => /[A-Z].*\/|\/.*[A-Z]/.test(mediaType(r).split(";")[0] ?? "")),
    fails: ["media.json-spellings"],
  },
  {
    name: "a charset refused",
    fault: refuseType((r) => mediaType(r).includes("charset")),
    fails: ["media.json-spellings"],
  },
  {
    name: "a content encoding ignored",
    fault: beforehand((request) => void (isPost(request) && delete request.headers["content-encoding"])),
    fails: ["media.encoding"],
  },
  {
    name: "the encoding identity refused",
    fault: refuseType(({ headers }) => headers["content-encoding"] === "identity"),
    fails: ["media.encoding"],
  },
  {
    name: "406 for what the caller accepts",
    fault: refuseWhere(406, ({ headers: { accept = "*/*" } }) => !/\*\/\*|json|text/.test(accept)),
    fails: ["media.accept"],
  },
  {
    name: "PUT is POST",
    fault: beforehand((request) => {
      if (request.method === "PUT" && request.url?.startsWith("/v1/")) request.method = "POST";
    }),
    fails: ["media.order-of-checks", "routes.methods"],
  },
  {
    name: "POST is GET",
    fault: beforehand((request) => {
      if (isPost(request) && /^\/(health|ready|v1\/models)$/.test(request.url ?? "")) request.method = "GET";
    }),
    fails: ["routes.methods"],
  },
  {
    name: "204 for OPTIONS",
    fault: answered(({ method }) => method === "OPTIONS", 204, { allow: "POST" }),
    fails: ["errors.json", "routes.methods"],
  },
  {
    name: "two slashes are one",
    fault: beforehand((request) => {
      if (request.url?.startsWith("//")) request.url = request.url.replace(/^\/+/, "/");
    }),
    fails: ["routes.unknown"],
  },
  {
    name: "a path for each model",
    fault: beforehand((request) => {
      if (request.url?.startsWith("/v1/models/")) request.url = "/v1/models";
    }),
    fails: ["routes.unknown"],
  },
  {
    name: "paths without their version",
    fault: beforehand((request) => {
      if (/^\/(rank|systemone|models)$/.test(request.url ?? "")) request.url = `/v1${request.url}`;
    }),
    fails: ["routes.unknown"],
  },
  {
    name: "any path below an operation",
    fault: beforehand((request) => {
      request.url = (request.url ?? "").replace(/^(\/v1\/(?:rank|systemone))\/.*/, "$1");
    }),
    fails: ["routes.unknown"],
  },
  {
    name: "/livez is not there",
    fault: refuseWhere(404, ({ url }) => url === "/livez"),
    fails: ["livez.status"],
  },
  {
    name: "/livez says ok",
    fault: json("/livez", (body) => void body.set("status", "ok")),
    fails: ["livez.status"],
  },
  {
    name: "/redoc as plain text",
    fault: header("content-type", (type, _, { url }) => (url === "/redoc" ? "text/plain" : type)),
    fails: ["docs.own-assets"],
  },
  {
    name: "/docs is somewhere else",
    fault: answered(({ url }) => url === "/docs", 302, { location: "/docs/" }),
    fails: ["docs.docs", "docs.own-assets", "headers.request-id-kept", "routes.head", "routes.methods"],
  },
  {
    name: "unknown expectations ignored",
    fault: {
      plant: ({ server }) => {
        const own = server.listeners("checkExpectation");
        server.removeAllListeners("checkExpectation");
        const ignore = (request: IncomingMessage, response: ServerResponse) => {
          delete request.headers.expect;
          const at = request.rawHeaders.findIndex((name) => name.toLowerCase() === "expect");
          if (at >= 0) request.rawHeaders.splice(at, 2);
          server.emit("request", request, response);
        };
        server.on("checkExpectation", ignore);
        return () => {
          server.off("checkExpectation", ignore);
          for (const listener of own)
            server.on("checkExpectation", (...args) => Reflect.apply(listener, server, args));
        };
      },
    },
    fails: ["wire.expect-unknown"],
  },
  {
    name: "each connection closed after one answer",
    fault: header("connection", (value, { status }) => (status === 200 ? "close" : value)),
    fails: ["wire.kept"],
  },
];

/** Headers, error bodies, and characters of answers. */
export const REPLY_FAULTS: readonly PlantedFault[] = [
  {
    name: "no code with 405",
    fault: code((value, { status }) => (status === 405 ? undefined : value)),
    fails: ["errors.code"],
  },
  {
    name: "no code with 413",
    fault: code((value, { status }) => (status === 413 ? undefined : value)),
    fails: ["errors.code"],
    only: ["limits.body", "errors.code"],
  },
  {
    name: "codes in small letters",
    fault: code((value) => value.toLowerCase()),
    fails: ["errors.code", "overload.refused"],
  },
  {
    name: "an unknown path called an invalid request",
    fault: code((value, { status }) => (status === 404 ? "INVALID_REQUEST" : value)),
    fails: ["errors.code"],
  },
  {
    name: "a full queue called the end of the service",
    fault: code((value) => (value === "QUEUE_FULL" ? "DRAINING" : value)),
    fails: ["overload.refused"],
  },
  {
    name: "Retry-After 0",
    fault: header("retry-after", (value) => (value === undefined ? undefined : "0")),
    fails: ["overload.refused"],
  },
  {
    name: "Retry-After as a date",
    fault: header("retry-after", (value) =>
      value === undefined ? undefined : new Date(Date.now() + 1000).toUTCString(),
    ),
    fails: ["overload.refused"],
  },
  {
    name: "x-request-id in small letters",
    fault: requestId((id) => id.toLowerCase()),
    fails: ["headers.request-id-kept"],
  },
  {
    name: "x-request-id of at most 64 characters",
    fault: requestId((id) => id.slice(0, 64)),
    fails: ["headers.request-id-kept"],
  },
  {
    name: "another x-request-id with 422",
    fault: requestId((id, { status }) => (status === 422 ? crypto.randomUUID() : id)),
    fails: ["headers.request-id-kept"],
  },
  {
    name: "another x-request-id with 405",
    fault: requestId((id, { status }) => (status === 405 ? crypto.randomUUID() : id)),
    fails: ["headers.request-id-kept"],
  },
  {
    name: "x-request-id without its dots",
    fault: requestId((id) => id.replaceAll(".", "-")),
    fails: ["headers.request-id-kept"],
  },
  {
    name: "server-timing with a comma in its numbers",
    fault: header("server-timing", (value) => value?.replaceAll(".", ",")),
    fails: ["headers.server-timing"],
  },
  {
    name: "server-timing without its total",
    fault: header("server-timing", (value) => value?.replace(/, total;dur=[\d.]+/, "")),
    fails: ["headers.server-timing"],
  },
  {
    name: "server-timing with a part that is longer than its total",
    fault: header("server-timing", (value) => value?.replace(/inference;dur=[\d.]+/, "inference;dur=5000")),
    fails: ["headers.server-timing"],
  },
  {
    name: "server-timing with a total that is not the latency",
    fault: header("server-timing", (value) => value?.replace(/total;dur=[\d.]+/, "total;dur=5000")),
    fails: ["headers.server-timing"],
  },
  {
    name: "no server-timing with rankings",
    fault: header("server-timing", (value, _, { url }) => (url === "/v1/rank" ? undefined : value)),
    fails: ["headers.server-timing"],
  },
  {
    name: "answers said to be in latin1",
    fault: header("content-type", (type) =>
      type?.startsWith("application/json") ? "application/json; charset=iso-8859-1" : type,
    ),
    fails: ["errors.json"],
  },
  {
    name: "an empty list of issues",
    fault: errors((body) => void (Array.isArray(body.get("detail")) && body.set("detail", []))),
    fails: ["errors.issues", "errors.loc", "errors.names-types", "errors.type"],
  },
  {
    name: "issues without a sentence",
    fault: issues((issue) => void issue.set("msg", "")),
    fails: ["errors.issues", "errors.names-types"],
  },
  {
    name: "the detail of a 413 as a list",
    fault: errors(
      (body, { status }) => void (status === 413 && body.set("detail", [String(body.get("detail"))])),
    ),
    fails: ["errors.issues"],
    only: ["limits.body", "errors.issues"],
  },
  {
    name: "loc names the state where the request said context",
    fault: issues((issue) => {
      const loc = issue.get("loc");
      if (Array.isArray(loc) && loc[1] === "context") loc[1] = "state";
    }),
    fails: ["errors.loc"],
  },
  {
    name: "loc names true where the request said yes",
    fault: issues((issue) => {
      const loc = issue.get("loc");
      if (Array.isArray(loc) && loc[4] === "yes") loc[4] = "true";
    }),
    fails: ["errors.loc"],
  },
  {
    name: "positions in loc from one",
    fault: issues((issue) => {
      const loc = issue.get("loc");
      if (Array.isArray(loc))
        issue.set(
          "loc",
          loc.map((step) => (typeof step === "number" ? step + 1 : step)),
        );
    }),
    fails: ["errors.loc"],
  },
  {
    name: "a member under two names called unknown",
    fault: renameIssue("alias_conflict", "unknown_field"),
    fails: ["errors.type"],
  },
  {
    name: "too much nesting called invalid JSON",
    fault: renameIssue("nesting_too_deep", "invalid_json"),
    fails: ["errors.type"],
  },
  {
    name: "a member that comes twice called invalid JSON",
    fault: renameIssue("duplicate_member", "invalid_json"),
    fails: ["errors.type"],
  },
  {
    name: "another model called an unknown value",
    fault: renameIssue("unsupported_model", "unknown_value"),
    fails: ["errors.type"],
  },
  {
    name: "too many pairs called too many",
    fault: renameIssue("too_many_pairs", "too_many"),
    fails: ["errors.type"],
  },
  { name: "blank texts called missing", fault: renameIssue("blank", "missing"), fails: ["errors.type"] },
  { name: "equal texts called blank", fault: renameIssue("not_distinct", "blank"), fails: ["errors.type"] },
  {
    name: "too many tokens called too many",
    fault: renameIssue("too_many_tokens", "too_many"),
    fails: ["errors.type", "limits.tokens.exact"],
  },
  { name: "too few called too many", fault: renameIssue("too_few", "too_many"), fails: ["errors.type"] },
  {
    name: "texts of a ranking in composed form",
    fault: eachRow((row) => void row.set("text", String(row.get("text")).normalize("NFC"))),
    fails: ["rank.every-answer", "rank.text-as-sent", "rank.ties"],
  },
  {
    name: "characters beyond U+FFFF replaced",
    fault: eachRow(
      (row) => void row.set("text", String(row.get("text")).replaceAll(/[\u{10000}-\u{10ffff}]/gu, "?")),
    ),
    fails: ["rank.every-answer", "rank.text-as-sent"],
  },
  {
    name: "white space in texts of a ranking joined",
    fault: eachRow((row) => void row.set("text", String(row.get("text")).replaceAll(/\s+/g, " "))),
    fails: ["rank.every-answer", "rank.text-as-sent", "rank.ties"],
  },
  {
    name: "probabilities with ten digits",
    fault: eachAnswer((answer) => {
      const shares = inner(answer, "probabilities");
      for (const [name, share] of shares) shares.set(name, Number(Number(share).toPrecision(10)));
    }),
    fails: ["arithmetic.confidence", "arithmetic.score"],
  },
  {
    name: "probabilities of a ranking with ten digits",
    fault: eachRow(
      (row) => void row.set("probability", Number(Number(row.get("probability")).toPrecision(10))),
    ),
    fails: ["arithmetic.precision"],
  },
  {
    name: "a temperature of fewer digits in rankings",
    fault: { answer: (body) => void (body.has("ranked") && body.set("temperature", 4.13682)) },
    fails: ["rank.every-answer", "rank.temperature"],
  },
  {
    name: "the state's alias accepted beside the state",
    fault: edit((body) => void (isConflict(body) && body.delete("context"))),
    fails: ["alias.rank-conflict", "alias.rank-only"],
  },
  {
    name: "the state's alias for questions too",
    fault: edit((body) => {
      if (!body.has("questions") || body.has("state") || !body.has("context")) return;
      body.set("state", body.get("context") ?? null);
      body.delete("context");
    }),
    fails: ["alias.rank-only"],
  },
  {
    name: "levels under names accepted",
    fault: editQuestions((question) => {
      const levels = question.get("criteria");
      if (question.get("type") === "score" && levels instanceof Map)
        question.set("criteria", [...levels.values()]);
    }),
    fails: ["request.criteria-shape"],
  },
  {
    name: "null criteria of a yes/no question refused",
    fault: {
      reply: refuseWhen((body) =>
        [...inner(body, "questions").values()].some((q) => inner(q).get("criteria") === null),
      ),
    },
    fails: ["alias.noul-null"],
  },
  {
    name: "the document in two lines of text",
    fault: {
      send: (answer, { url }) => rewrite(answer, url === "/openapi.json", (text) => JSON.stringify(text)),
    },
    fails: [
      "docs.openapi",
      "docs.openapi-answers",
      "docs.openapi-contract",
      "docs.openapi-errors",
      "docs.openapi-examples",
      "docs.openapi-schemas",
      "errors.issues",
      "routes.methods",
    ],
  },
];
