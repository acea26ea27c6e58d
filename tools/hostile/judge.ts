import type { OperationId } from "../../src/contract/call.ts";
import { operations } from "../../test/contract/document.ts";
import { assertDeclared, assertProtocolError, OPERATIONS } from "../../test/contract/response-check.ts";
import type { HostileCase } from "./cases.ts";
import type { Answer, Exchange } from "./exchange.ts";

/** Marker word for values. No error may repeat it. */
export const MARK = "xyzzymark";

/** Every header that the service sends. Any other was injected. */
const HEADERS = new Set(
  "access-control-allow-origin allow cache-control connection content-length content-range content-security-policy content-type date etag keep-alive last-modified location accept-ranges retry-after server-timing transfer-encoding vary traceparent www-authenticate x-content-type-options x-decision-error x-request-id".split(
    " ",
  ),
);
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
/** Files of the documentation pages. The contract says only that they come from this server. */
const PAGE_FILE = /^\/(docs|redoc)\//;

/** Faults of the service's answers; empty if there are none. */
export function faultsOf(given: HostileCase, seen: Exchange): readonly string[] {
  const faults: string[] = [];
  if (seen.isHung) faults.push(`not finished after ${Math.round(seen.ms)} ms`);
  if (seen.rest !== "" && !given.mayBreakOff) faults.push(`not an HTTP answer: ${JSON.stringify(seen.rest)}`);
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
  if (status >= 500 && ![501, 503, 504].includes(status)) faults.push(`${status}: ${body.slice(0, 300)}`);
  if (status >= 400 && body.includes(MARK)) faults.push(`${status} repeats a value: ${body.slice(0, 300)}`);
  if (body.includes("root:x:0:")) faults.push("the answer contains a file of this machine");
  const names = headers.map(([name]) => name);
  const injected = names.find((name, at) => !HEADERS.has(name) || names.indexOf(name) !== at);
  if (injected !== undefined) faults.push(`the header ${JSON.stringify(injected)}, twice or unknown`);
  if (!REQUEST_ID.test(headerOf(answer, "x-request-id") ?? "")) faults.push("no request id");
  const undeclared = contractFault(answer, method, target);
  return undeclared === undefined ? faults : [...faults, undeclared];
}

/** How the answer violates the contract. @param target undefined if the request's target is ambiguous */
function contractFault(
  answer: Answer,
  method: string | undefined,
  target: string | undefined,
): string | undefined {
  if (method === "HEAD") return undefined; // without a body there is nothing to compare with a schema
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

/** @param operation undefined for answers that belong to no operation */
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

/** The path of a request target. */
function pathOf(target: string): string {
  const path = target.replace(/^http:\/\/[^/]*/i, "").split(/[?#;]/)[0] ?? "";
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
