import assert from "node:assert/strict";
import { Ajv, type ValidateFunction } from "ajv";
import type { Document } from "openapi-backend";
import type { OperationId } from "../../src/contract/call.ts";
import { forAjv } from "../../src/contract/schema.ts";
import { type Answer, document, operations } from "./document.ts";

export type ReceivedHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | number | undefined>>;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const ISSUES = {
  type: "array",
  minItems: 1,
  maxItems: 20,
  items: { $ref: "contract#/components/schemas/ValidationIssue" },
};

const ajv = new Ajv({ strict: false, allErrors: true, discriminator: true, validateFormats: false });
ajv.addSchema(forAjv(document as unknown as Document), "contract"); // the committed contract
const compiled = new Map<string, ValidateFunction>();

/**
 * Asserts that an answer is one that the contract gives for the operation: the status is declared, required
 * headers are there, header values and the body fit their schemas.
 *
 * @param body parsed, if it is JSON; the text of a page
 */
export function assertDeclared(
  operationId: OperationId,
  status: number,
  headers: ReceivedHeaders,
  body: unknown,
): void {
  const operation = operations.find((candidate) => candidate.operationId === operationId);
  assert.ok(operation, `${operationId} is not in the contract`);
  const answer = operation.responses[String(status)];
  assert.ok(answer, `${operationId} does not declare status ${status}`);
  const received = lowerCase(headers);
  assertHeaders(`${operationId} ${status}`, answer, received);
  const mediaType = mediaTypeOf(received);
  const media = answer.content[mediaType];
  assert.ok(media, `${operationId} ${status} does not declare the media type ${mediaType}`);
  assertFits(media.schema, body, `body of ${operationId} ${status}`);
  if (status >= 400 && isErrorBody(body)) assertDetail(status, body.detail);
}

/** The same for errors that belong to no operation: 400, 404, 405, 408, 412, 416, 417, 431. */
export function assertProtocolError(status: number, headers: ReceivedHeaders, body: unknown): void {
  assert.ok(
    [400, 404, 405, 408, 412, 416, 417, 431].includes(status),
    `the contract tells of no status ${status} outside operations`,
  );
  const received = lowerCase(headers);
  assert.match(received.get("x-request-id") ?? "", REQUEST_ID);
  assertFits(
    { $ref: "contract#/components/headers/ErrorCode/schema" },
    received.get("x-decision-error"),
    "code",
  );
  assert.equal(mediaTypeOf(received), "application/json");
  if (status === 405) assert.match(received.get("allow") ?? "", /^[A-Z]+(, [A-Z]+)*$/);
  assertFits({ $ref: "contract#/components/schemas/ErrorBody" }, body, `body of ${status}`);
  assertDetail(status, isErrorBody(body) ? body.detail : undefined);
}

/** Asserts that a value fits a schema; its references may point into the contract. */
export function assertFits(schema: object, value: unknown, what: string): void {
  const key = JSON.stringify(schema).replaceAll('"#/', '"contract#/');
  const validate = compiled.get(key) ?? ajv.compile(forAjv(JSON.parse(key)));
  compiled.set(key, validate);
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`);
}

function assertHeaders(what: string, answer: Answer, received: ReadonlyMap<string, string>): void {
  for (const [name, header] of Object.entries(answer.headers)) {
    const value = received.get(name);
    if (header.required === true) assert.notEqual(value, undefined, `${what} lacks the header ${name}`);
    if (value !== undefined) assertFits(header.schema, value, `header ${name} of ${what}`);
  }
  assert.match(received.get("x-request-id") ?? "", REQUEST_ID);
}

function assertDetail(status: number, detail: unknown): void {
  if (status === 422) assertFits(ISSUES, detail, "detail of 422");
  else assert.ok(typeof detail === "string" && detail !== "", `detail of ${status} must be a sentence`);
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
