import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errorReply } from "../../src/contract/error-reply.ts";
import { ERROR_KINDS, type ErrorKind, type Issue, ServiceError } from "../../src/errors.ts";
import { operations } from "./document.ts";
import { assertDeclared, assertProtocolError, isProtocolError } from "./response-check.ts";

const ID = "id-7";

const kinds: readonly {
  kind: ErrorKind;
  status: number;
  headers?: Record<string, string>;
  code?: ErrorKind;
}[] = [
  { kind: "MALFORMED_HTTP", status: 400 },
  { kind: "HEADERS_TIMEOUT", status: 408 },
  { kind: "HEADERS_TOO_LARGE", status: 431 },
  { kind: "EXPECTATION_FAILED", status: 417 },
  { kind: "CONDITION_FAILED", status: 412 },
  { kind: "TOO_MANY_CONNECTIONS", status: 503, headers: { "retry-after": "1" } },
  { kind: "HOST_NOT_ALLOWED", status: 403 },
  { kind: "ORIGIN_NOT_ALLOWED", status: 403 },
  { kind: "NOT_FOUND", status: 404 },
  { kind: "METHOD_NOT_ALLOWED", status: 405 },
  { kind: "KEY_MISSING", status: 401, headers: { "www-authenticate": "Bearer" } },
  { kind: "UNAUTHORIZED", status: 401, headers: { "www-authenticate": "Bearer" } },
  { kind: "BODY_TOO_LARGE", status: 413 },
  { kind: "RATE_LIMITED", status: 429, headers: { "retry-after": "1" } },
  { kind: "QUEUE_FULL", status: 503, headers: { "retry-after": "1" } },
  { kind: "OVERLOADED", status: 503, headers: { "retry-after": "1" } },
  { kind: "STARTING", status: 503, headers: { "retry-after": "1" } },
  { kind: "DRAINING", status: 503, headers: { "retry-after": "1" } },
  { kind: "DEADLINE_EXCEEDED", status: 504 },
  { kind: "BACKEND_FAILED", status: 500 },
  { kind: "INTERNAL", status: 500 },
  { kind: "INVALID_REQUEST", status: 422 },
  { kind: "CANCELLED", status: 500, code: "INTERNAL" },
  { kind: "INVALID_OPTION", status: 500, code: "INTERNAL" },
  { kind: "INVALID_MODEL", status: 500, code: "INTERNAL" },
  { kind: "PULL_FAILED", status: 500, code: "INTERNAL" },
  { kind: "UNREACHABLE", status: 500, code: "INTERNAL" },
];

describe("the answer to an error", () => {
  it("is tested for every kind", () => {
    assert.deepEqual(kinds.map(({ kind }) => kind).toSorted(), [...ERROR_KINDS].toSorted());
  });

  it("has one of the codes that the contract lists", () => {
    const codeOf = (kind: ErrorKind) =>
      errorReply(new ServiceError(kind, "What happened."), ID).headers["x-decision-error"];
    const codes = ERROR_KINDS.filter((kind) => codeOf(kind) === kind);
    const answers = operations.flatMap(({ responses }) => Object.entries(responses));
    const errors = answers.filter(([status]) => Number(status) >= 400);
    for (const [status, { headers }] of errors)
      assert.deepEqual(headers["x-decision-error"]?.schema["x-extensible-enum"], codes, status);
  });

  for (const { kind, status, headers = {}, code = kind } of kinds) {
    it(`is ${status} for ${kind}`, () => {
      const reply = errorReply(new ServiceError(kind, "Expected this, got that."), ID);
      const { "content-type": contentType, "x-decision-error": came, ...others } = reply.headers;
      assert.equal(came, code);
      assert.equal(reply.status, status);
      assert.equal(contentType, "application/json; charset=utf-8");
      assert.deepEqual(others, headers);
      const received = { ...reply.headers, "x-request-id": ID };
      if (isProtocolError(received))
        assertProtocolError(status, { ...received, allow: "POST" }, JSON.parse(reply.body));
      else assertDeclared("rank", status, received, JSON.parse(reply.body));
    });
  }

  it("says the request id and nothing of the cause for anything unforeseen", () => {
    for (const thrown of [
      new TypeError("secret"),
      new ServiceError("BACKEND_FAILED", "secret"),
      "secret",
      undefined,
    ]) {
      const reply = errorReply(thrown, ID);
      assert.equal(reply.status, 500);
      assert.match(reply.body, /id-7/);
      assert.doesNotMatch(reply.body, /secret/);
      assert.equal(reply.cause, thrown);
    }
  });

  it("lists at most 20 issues with names of at most 100 characters for an invalid request", () => {
    const issue: Issue = {
      loc: ["body", "questions", `${"n".repeat(99)}😀`, 3],
      msg: "Expected a text, got a blank one.",
      type: "blank",
    };
    const reply = errorReply(
      new ServiceError("INVALID_REQUEST", "No.", { issues: Array(30).fill(issue) }),
      ID,
    );
    const { detail } = JSON.parse(reply.body);
    assert.equal(reply.status, 422);
    assert.deepEqual(detail, Array(20).fill({ ...issue, loc: ["body", "questions", "n".repeat(99), 3] }));
    assertDeclared("rank", 422, { ...reply.headers, "x-request-id": ID }, { detail });
  });

  it("has an issue even if an invalid request came with none", () => {
    const reply = errorReply(new ServiceError("INVALID_REQUEST", "Expected this, got that."), ID);
    assertDeclared("rank", 422, { ...reply.headers, "x-request-id": ID }, JSON.parse(reply.body));
  });
});
