import assert from "node:assert/strict";
import { Ajv, type ValidateFunction } from "ajv";
import type { Document } from "openapi-backend";
import type { OperationId } from "../../src/contract/call.ts";
import { forAjv } from "../../src/contract/openapi.ts";
import { ERROR_KINDS } from "../../src/errors.ts";
import { type Answer, operationsOf, readDocument, resolvedFrom } from "./document.ts";

export type ReceivedHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | number | undefined>>;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
/** Names of at least this length may be cut: at 100, or before half a surrogate pair. */
const CUT_NAME_LENGTH = 99;
/** The one form of what is said of a fault. */
const GRAMMAR = /^Expected .+, got .+\.$/;
/** Headers that any answer may have. The contract's `info` names them, the operations do not. */
const OF_ANY_ANSWER = [
  ...[
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "keep-alive",
    "trailer",
    "transfer-encoding",
  ],
  ...["cache-control", "content-security-policy", "referrer-policy", "x-content-type-options"],
  ...["accept-ranges", "content-range", "etag", "last-modified"],
  ...["access-control-allow-origin", "access-control-expose-headers", "vary"],
];

/** Checks an answer to an operation against its document. @param body parsed, if it is JSON; the text of a page */
type ResponseCheck<Id extends string = string> = (
  operationId: Id,
  status: number,
  headers: ReceivedHeaders,
  body: unknown,
) => void;

/**
 * A check that an answer is one that a committed document gives for the operation: the status is declared, required headers are
 * there and no undeclared ones, header values and the body fit their schemas.
 *
 * @param name of a dialect, or `openapi.typed`
 */
export function checkOf(name: string): ResponseCheck {
  const document = readDocument(name);
  const operations = operationsOf(resolvedFrom(document));
  const assertFits = fitsIn(document);
  return (operationId, status, headers, body) => {
    const operation = operations.find((candidate) => candidate.operationId === operationId);
    assert.ok(operation, `${operationId} is not in the contract`);
    const answer = operation.responses[String(status)];
    assert.ok(answer, `${operationId} does not declare status ${status}`);
    const what = `${operationId} ${status}`;
    const received = lowerCase(headers);
    assertHeaders(what, answer, received, assertFits);
    const mediaType = mediaTypeOf(received);
    const media = answer.content[mediaType];
    assert.ok(media, `${what} does not declare the media type ${mediaType}`);
    assertFits(media.schema, body, `body of ${what}`);
    if (status >= 400) assertCode(what, received);
  };
}

const checkPlain = checkOf("openapi.typed");

/** The operations of the plain contract by method and path. */
export const OPERATIONS: Readonly<Record<string, OperationId>> = {
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
  "GET /openapi.typed.json": "getTypedOpenapi",
};

/** The check of the plain contract. */
export const assertDeclared: ResponseCheck<OperationId> = (operationId, status, headers, body) => {
  checkPlain(operationId, status, headers, body);
  if (status >= 400 && isErrorBody(body)) assertDetail(status, body.detail);
};
const assertFits = fitsIn(readDocument("openapi.typed"));

/** Statuses of the errors that belong to no operation, by their code. */
const OUTSIDE_OPERATIONS: Readonly<Record<string, readonly number[]>> = {
  MALFORMED_HTTP: [400, 501],
  HOST_NOT_ALLOWED: [403],
  ORIGIN_NOT_ALLOWED: [403], // at /mcp
  NOT_FOUND: [404],
  METHOD_NOT_ALLOWED: [405],
  HEADERS_TIMEOUT: [408],
  CONDITION_FAILED: [412, 416],
  EXPECTATION_FAILED: [417],
  HEADERS_TOO_LARGE: [431],
  TOO_MANY_CONNECTIONS: [503],
};

/** Whether the error is one that belongs to no operation. */
export function isProtocolError(headers: ReceivedHeaders): boolean {
  return (lowerCase(headers).get("x-decision-error") ?? "") in OUTSIDE_OPERATIONS;
}

/** The check of errors that belong to no operation. */
export function assertProtocolError(status: number, headers: ReceivedHeaders, body: unknown): void {
  const what = `a ${status} outside operations`;
  const received = lowerCase(headers);
  assertCode(what, received);
  const code = received.get("x-decision-error") ?? "";
  assert.ok(
    OUTSIDE_OPERATIONS[code]?.includes(status),
    `the contract has no ${status} with ${code} outside operations`,
  );
  assert.equal(mediaTypeOf(received), "application/json");
  if (status === 405) assert.match(received.get("allow") ?? "", /^[A-Z]+(, [A-Z]+)*$/);
  if (status === 503) assert.equal(received.get("retry-after"), "1");
  assertFits({ $ref: "#/components/schemas/ErrorBody" }, body, `body of ${what}`);
  assert.ok(isErrorBody(body));
  assertDetail(status, body.detail);
  if (code !== "NOT_FOUND" && code !== "TOO_MANY_CONNECTIONS") assert.match(String(body.detail), GRAMMAR);
}

type Fits = (schema: object, value: unknown, what: string) => void;

/** Asserts that a value fits a schema, whose references point into the document. */
function fitsIn(document: object): Fits {
  const ajv = new Ajv({ strict: false, allErrors: true, discriminator: true, validateFormats: false });
  ajv.addSchema(forAjv(document as unknown as Document), "contract"); // the committed document
  const compiled = new Map<string, ValidateFunction>();
  return (schema, value, what) => {
    const key = JSON.stringify(schema).replaceAll('"#/', '"contract#/');
    const validate = compiled.get(key) ?? ajv.compile(forAjv(JSON.parse(key)));
    compiled.set(key, validate);
    assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`);
  };
}

function assertHeaders(
  what: string,
  answer: Answer,
  received: ReadonlyMap<string, string>,
  assertFits: Fits,
): void {
  const declared = answer.headers;
  for (const [name, header] of Object.entries(declared)) {
    const value = received.get(name);
    if (header.required === true) assert.notEqual(value, undefined, `${what} lacks the header ${name}`);
    if (value !== undefined) assertFits(header.schema, value, `header ${name} of ${what}`);
  }
  const undeclared = [...received.keys()].filter(
    (name) => !(name in declared || OF_ANY_ANSWER.includes(name)),
  );
  assert.deepEqual(undeclared, [], `${what} does not declare all its headers`);
  assert.match(received.get("x-request-id") ?? "", REQUEST_ID);
}

function assertCode(what: string, received: ReadonlyMap<string, string>): void {
  assert.match(received.get("x-request-id") ?? "", REQUEST_ID);
  const code = received.get("x-decision-error") ?? "none";
  assert.ok(
    ERROR_KINDS.some((kind) => kind === code),
    `header x-decision-error of ${what}: ${code}`,
  );
}

function assertDetail(status: number, detail: unknown): void {
  assert.equal(
    Array.isArray(detail),
    status === 422,
    `detail of ${status} must be a sentence, of 422 an array`,
  );
  if (!Array.isArray(detail)) return;
  for (const { msg } of detail) assert.match(msg, GRAMMAR);
}

/**
 * Asserts that each issue of a 422 is about a value of the body, and with `missing` about one that is not there.
 *
 * @param sent the text of the request's body
 */
export function assertPlaces(sent: string, { detail }: { readonly detail?: unknown }): void {
  if (!Array.isArray(detail)) return;
  for (const { loc, type } of detail) {
    if (["media_type", "invalid_json", "duplicate_member", "nesting_too_deep"].includes(type)) continue;
    const steps: readonly (string | number)[] = loc.slice(1);
    if (steps.some((step) => typeof step === "string" && step.length >= CUT_NAME_LENGTH)) continue; // cut
    const end = steps.reduce<unknown>((place, step) => {
      const isThere = typeof place === "object" && place !== null && Object.hasOwn(place, step);
      return isThere ? Reflect.get(place, step) : undefined;
    }, JSON.parse(sent));
    assert.equal(end === undefined, type === "missing", `${type} at ${JSON.stringify(loc)}`);
  }
}

function isErrorBody(body: unknown): body is { readonly detail: unknown } {
  return typeof body === "object" && body !== null && "detail" in body;
}

function mediaTypeOf(received: ReadonlyMap<string, string>): string {
  return received.get("content-type")?.split(";")[0]?.trim() ?? "";
}

function lowerCase(headers: ReceivedHeaders): ReadonlyMap<string, string> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return new Map(
    entries.flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), String(value)] as const],
    ),
  );
}
