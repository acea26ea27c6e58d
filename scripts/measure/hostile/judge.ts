import type { OperationId } from "../../../src/contract/call.ts";
import { operations } from "../../../test/contract/document.ts";
import { assertDeclared, assertProtocolError } from "../../../test/contract/response-check.ts";
import type { HostileCase } from "./cases.ts";
import type { Answer, Exchange } from "./exchange.ts";

/** A word that the cases put into values only: no error may repeat it. */
export const MARK = "xyzzymark";

const OPERATIONS: Readonly<Record<string, OperationId>> = {
  "POST /v1/systemone": "systemone",
  "POST /v1/rank": "rank",
  "GET /v1/models": "listModels",
  "GET /health": "getHealth",
  "GET /ready": "getReady",
  "GET /livez": "getLivez",
  "GET /metrics": "getMetrics",
  "GET /docs": "getDocs",
  "GET /redoc": "getRedoc",
  "GET /openapi.json": "getOpenapi",
};
/** Every header that the service sends: another one was injected. */
const HEADERS = new Set(
  "access-control-allow-origin allow cache-control connection content-length content-range content-security-policy content-type date etag keep-alive last-modified location accept-ranges retry-after server-timing transfer-encoding vary traceparent www-authenticate x-content-type-options x-decision-error x-request-id".split(
    " ",
  ),
);
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
/** Pages' own files, of which the contract says no more than that they come from here. */
const PAGE_FILE = /^\/(docs|redoc)\//;

/** What is wrong with what the service answered; nothing where all of it may be. */
export function faultsOf(given: HostileCase, seen: Exchange): readonly string[] {
  const faults: string[] = [];
  if (seen.isHung) faults.push(`no end after ${Math.round(seen.ms)} ms`);
  if (seen.rest !== "" && !given.mayBreakOff) faults.push(`no answer of HTTP: ${JSON.stringify(seen.rest)}`);
  const [least, most] = given.answers;
  if (seen.answers.length < least || seen.answers.length > most)
    faults.push(`${seen.answers.length} answers, expected ${least} to ${most}`);
  for (const [at, answer] of seen.answers.entries()) {
    const { method, target, statuses, requestId } = given.requests[at] ?? {};
    if (statuses !== undefined && !statuses.includes(answer.status))
      faults.push(
        `${answer.status} as answer ${at}, expected ${statuses.join(", ")}: ${answer.body.slice(0, 300)}`,
      );
    faults.push(...answerFaults(answer, method, target));
    if (requestId !== undefined && answer.status !== 400 && headerOf(answer, "x-request-id") !== requestId)
      faults.push(
        `answer ${at} has the request id ${headerOf(answer, "x-request-id")}, expected ${requestId}`,
      );
  }
  return faults;
}

function answerFaults(
  answer: Answer,
  method: string | undefined,
  target: string | undefined,
): readonly string[] {
  const { status, headers, body } = answer;
  const faults: string[] = [];
  if (status >= 500 && status !== 503 && status !== 504) faults.push(`${status}: ${body.slice(0, 300)}`);
  if (status >= 400 && body.includes(MARK)) faults.push(`${status} repeats a value: ${body.slice(0, 300)}`);
  if (body.includes("root:x:0:")) faults.push("a file of this machine came");
  const names = headers.map(([name]) => name);
  const injected = names.find((name, at) => !HEADERS.has(name) || names.indexOf(name) !== at);
  if (injected !== undefined) faults.push(`the header ${JSON.stringify(injected)}, twice or unknown`);
  if (!REQUEST_ID.test(headerOf(answer, "x-request-id") ?? "")) faults.push("no request id");
  const undeclared = contractFault(answer, method, target);
  return undeclared === undefined ? faults : [...faults, undeclared];
}

/** Why the contract has no such answer. @param target undefined where nobody can say what was asked for */
function contractFault(
  answer: Answer,
  method: string | undefined,
  target: string | undefined,
): string | undefined {
  if (method === "HEAD") return undefined; // without the body there is nothing to hold against a schema
  const path = target === undefined ? undefined : pathOf(target);
  if (answer.status < 400 && path !== undefined && PAGE_FILE.test(path)) return undefined;
  const operation = OPERATIONS[`${method} ${path}`];
  const candidates =
    method === undefined || target === undefined
      ? operations.map(({ operationId }) => operationId as OperationId)
      : operation
        ? [operation]
        : [];
  const said: string[] = [];
  for (const candidate of [...candidates, undefined]) {
    const fault = undeclaredBy(candidate, answer);
    if (fault === undefined) return undefined;
    said.push(fault);
  }
  return said[0];
}

/** @param operation undefined: the answers that belong to none */
function undeclaredBy(
  operation: OperationId | undefined,
  { status, headers, body }: Answer,
): string | undefined {
  const received = Object.fromEntries(headers);
  try {
    const isJson = received["content-type"]?.startsWith("application/json") === true;
    const value: unknown = isJson ? JSON.parse(body) : body;
    if (operation === undefined) assertProtocolError(status, received, value);
    else assertDeclared(operation, status, received, value);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function headerOf({ headers }: Answer, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1];
}

/** The path that a target means, if it is one. */
function pathOf(target: string): string {
  const path = target.replace(/^http:\/\/[^/]*/i, "").split(/[?#;]/)[0] ?? "";
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
