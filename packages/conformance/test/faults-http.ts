import type { IncomingMessage, ServerResponse } from "node:http";
import type { Fault, WireAnswer } from "./faulty-service.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { eachRow, edit, refusing } from "./planting.ts";
import {
  beforehand,
  early,
  errors,
  header,
  issues,
  json,
  refuse,
  refuseWhere,
  renameIssue,
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
export const ROUTE_FAULTS: readonly PlantedFault[] = faults({
  "a missing media type taken for JSON: media.others": readAs((type) => type === undefined),
  "kinds of JSON accepted: media.others": readAs((type = "") => /^application\/[\w.]+\+json/.test(type)),
  "text/json accepted: media.others": readAs((type = "") => type.startsWith("text/json")),
  "text/plain accepted: media.order-of-checks": readAs((type = "") => type.startsWith("text/plain")),
  "a media type in capitals refused: media.json-spellings": refuseType((r) =>
    /[A-Z].*\/|\/.*[A-Z]/.test(mediaType(r).split(";")[0] ?? ""),
  ),
  "a charset refused: media.json-spellings": refuseType((r) => mediaType(r).includes("charset")),
  "406 for what the caller accepts: media.accept": refuseWhere(
    406,
    ({ headers: { accept = "*/*" } }) => !/\*\/\*|json|text/.test(accept),
  ),
  "204 for OPTIONS: errors.json, routes.methods": answered(({ method }) => method === "OPTIONS", 204, {
    allow: "POST",
  }),
  "/livez is not there: livez.status": refuseWhere(404, ({ url }) => url === "/livez"),
  "/livez says ok: livez.status": json("/livez", (body) => void body.set("status", "ok")),
  "/redoc as plain text: docs.own-assets": header("content-type", (type, _, { url }) =>
    url === "/redoc" ? "text/plain" : type,
  ),
  "unknown expectations ignored: wire.expect-unknown": {
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
  "each connection closed after one answer: wire.kept": header("connection", (value, { status }) =>
    status === 200 ? "close" : value,
  ),
});

/** Headers, error bodies, and characters of answers. */
export const REPLY_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "no code with 405: errors.code": code((value, { status }) => (status === 405 ? undefined : value)),
    "codes in small letters: errors.code, overload.refused": code((value) => value.toLowerCase()),
    "x-request-id in small letters: headers.request-id-kept": requestId((id) => id.toLowerCase()),
    "x-request-id of at most 64 characters: headers.request-id-kept": requestId((id) => id.slice(0, 64)),
    "x-request-id without its dots: headers.request-id-kept": requestId((id) => id.replaceAll(".", "-")),
    "an empty list of issues: errors.names-types": errors(
      (body) => void (Array.isArray(body.get("detail")) && body.set("detail", [])),
    ),
    "issues without a sentence: errors.names-types": issues((issue) => void issue.set("msg", "")),
    "a member under two names called unknown: errors.type": renameIssue("alias_conflict", "unknown_field"),
    "too much nesting called invalid JSON: errors.type": renameIssue("nesting_too_deep", "invalid_json"),
    "another model called an unknown value: errors.type": renameIssue("unsupported_model", "unknown_value"),
    "too many pairs called too many: errors.type": renameIssue("too_many_pairs", "too_many"),
    "blank texts called missing: errors.type": renameIssue("blank", "missing"),
    "equal texts called blank: errors.type": renameIssue("not_distinct", "blank"),
    "too few called too many: errors.type": renameIssue("too_few", "too_many"),
    "too many tokens called too many: errors.type, limits.tokens.exact": renameIssue(
      "too_many_tokens",
      "too_many",
    ),
    "characters beyond U+FFFF replaced: rank.text-as-sent": eachRow(
      (row) => void row.set("text", String(row.get("text")).replaceAll(/[\u{10000}-\u{10ffff}]/gu, "?")),
    ),
    "white space in texts of a ranking joined: rank.text-as-sent": eachRow(
      (row) => void row.set("text", String(row.get("text")).replaceAll(/\s+/g, " ")),
    ),
    "probabilities of a ranking with ten digits: arithmetic.precision": eachRow(
      (row) => void row.set("probability", Number(Number(row.get("probability")).toPrecision(10))),
    ),
    "a temperature of fewer digits in rankings: rank.temperature": on.answer(
      (body) => void (body.has("ranked") && body.set("temperature", 4.13682)),
    ),
    "the state's alias accepted beside the state: alias.rank-conflict": edit(
      (body) => void (isConflict(body) && body.delete("context")),
    ),
    "null criteria of a yes/no question refused: alias.noul-null": refusing((body) =>
      [...inner(body, "questions").values()].some((q) => inner(q).get("criteria") === null),
    ),
    "the document in two lines of text: docs.openapi-errors, errors.issues, routes.methods": on.send(
      (answer, { url }) => rewrite(answer, url === "/openapi.json", (text) => JSON.stringify(text)),
    ),
  }),
  ...faults(
    {
      "no code with 413: errors.code": code((value, { status }) => (status === 413 ? undefined : value)),
    },
    { only: ["limits.body", "errors.code"] },
  ),
  ...faults(
    {
      "the detail of a 413 as a list: errors.issues": errors(
        (body, { status }) => void (status === 413 && body.set("detail", [String(body.get("detail"))])),
      ),
    },
    { only: ["limits.body", "errors.issues"] },
  ),
];
