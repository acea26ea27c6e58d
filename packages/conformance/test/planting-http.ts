import type { IncomingMessage, ServerResponse } from "node:http";
import { type Fault, KEY, type WireAnswer } from "./faulty-service.ts";
import { on } from "./planted-fault.ts";
import { inner, readTree, type Tree, type TreeMap, writeTree } from "./tree.ts";

/** As if the request had brought the right key. */
export function giveKey(request: IncomingMessage): void {
  request.headers.authorization = `Bearer ${KEY}`;
  const { rawHeaders } = request;
  const at = rawHeaders.findIndex((name) => name.toLowerCase() === "authorization");
  if (at >= 0) rawHeaders.splice(at, 2);
  rawHeaders.push("Authorization", `Bearer ${KEY}`);
}

/** Lets a request in whose Authorization header is meant. */
export const authorization = (isIn: (given: string, request: IncomingMessage) => boolean): Fault =>
  on.early((request) => {
    const given = request.headers.authorization ?? "";
    if (given !== "" && isIn(given, request)) giveKey(request);
    return false;
  });

/** Changes the document that the service serves. */
export const servedDocument = (change: (schemas: TreeMap, body: TreeMap) => void): Fault =>
  on.send((answer, request) => {
    if (request.url !== "/openapi.json" || answer.body === undefined) return;
    const body = readTree(answer.body);
    if (!(body instanceof Map)) return;
    change(inner(body, "components", "schemas"), body);
    answer.body = writeTree(body);
  });

/** Changes JSON bodies of errors. */
export function errors(
  change: (body: TreeMap, answer: WireAnswer, request: IncomingMessage) => void,
  from = 400,
): Fault {
  return on.send((answer, request) => {
    if (answer.status < from || answer.body === undefined || answer.body === "") return;
    const body = readTree(answer.body);
    if (!(body instanceof Map)) return;
    change(body, answer, request);
    answer.body = writeTree(body);
  });
}

export function issues(change: (issue: TreeMap) => void): Fault {
  return errors((body) => {
    const detail = body.get("detail");
    if (Array.isArray(detail)) for (const issue of detail) if (issue instanceof Map) change(issue);
  });
}

/** Changes the place that each issue names. */
export function places(change: (loc: Tree[]) => Tree): Fault {
  return issues((issue) => {
    const loc = issue.get("loc");
    if (Array.isArray(loc)) issue.set("loc", change(loc));
  });
}

/** Changes the type of issues. */
export function renameIssue(from: string, to: string): Fault {
  return issues((issue) => void (issue.get("type") === from && issue.set("type", to)));
}

/** Sets a member of the errors with a status. */
export function errorsWith(status: number, member: string, value: Tree): Fault {
  return errors((body, answer) => void (answer.status === status && body.set(member, value)));
}

/** Changes an answer of 200 to GET. */
export function json(path: string, change: (body: TreeMap) => void): Fault {
  return on.send((answer, request) => {
    const isMeant = request.method === "GET" && answer.status === 200 && request.url?.split("?")[0] === path;
    if (!isMeant || answer.body === undefined) return;
    const body = readTree(answer.body);
    if (!(body instanceof Map)) return;
    change(body);
    answer.body = writeTree(body);
  });
}

const both = (one: Fault, other: Fault): Fault =>
  on.send((answer, request) => {
    one.send?.(answer, request);
    other.send?.(answer, request);
  });

export const header = (
  name: string,
  change: (value: string | undefined, answer: WireAnswer, request: IncomingMessage) => string | undefined,
): Fault =>
  on.send((answer, request) => {
    const value = change(answer.headers[name], answer, request);
    if (value === undefined) delete answer.headers[name];
    else answer.headers[name] = value;
  });

export const health = (change: (body: TreeMap) => void) =>
  both(json("/health", change), json("/ready", change));

export const become = (answer: WireAnswer, isMeant: boolean | undefined, status: number) => {
  if (isMeant === true) answer.status = status;
};

export const rewrite = (
  answer: WireAnswer,
  isMeant: boolean | undefined,
  change: (text: string) => string,
) => {
  if (isMeant === true && answer.body !== undefined) answer.body = change(answer.body);
};

export const statusWhere = (from: number, to: number): Fault =>
  on.send((answer) => become(answer, answer.status === from, to));

/** Steps in before the body of a request that is meant. */
export const early = (
  isMeant: (request: IncomingMessage) => boolean,
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Fault =>
  on.early((request, response) => {
    if (!isMeant(request)) return false;
    request.resume();
    answer(response, request);
    return true;
  });

/** Changes a request before the service sees it. */
export const beforehand = (change: (request: IncomingMessage, response: ServerResponse) => void): Fault =>
  on.early((request, response) => {
    change(request, response);
    return false;
  });

export const refuse = (
  response: ServerResponse,
  status: number,
  body = '{"detail":"No."}',
  headers: Readonly<Record<string, string>> = {},
) => {
  response
    .writeHead(status, { "content-type": "application/json", "x-request-id": "q", ...headers })
    .end(body);
};

export const refuseWhere = (status: number, isMeant: (request: IncomingMessage) => boolean): Fault =>
  early(isMeant, (response) => refuse(response, status));

/** Changes the one model that /v1/models lists. */
export const listedModel = (change: (model: TreeMap) => void): Fault =>
  json("/v1/models", (body) => {
    const models = body.get("models");
    if (Array.isArray(models) && models[0] instanceof Map) change(models[0]);
  });

/** Lets a request that is meant in, whatever its key. */
export const letIn = (isMeant: (request: IncomingMessage) => boolean): Fault =>
  beforehand((request) => {
    if (isMeant(request)) giveKey(request);
  });
