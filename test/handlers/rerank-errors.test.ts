import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rerankError } from "../../handlers/rerank/errors.ts";
import { failureOf } from "../../src/contract/error-reply.ts";
import { type ErrorKind, invalidRequest, ServiceError } from "../../src/errors.ts";

function told(operationId: string | undefined, error: unknown) {
  const failure = failureOf(error, "the-id");
  const { status = failure.status, body } = rerankError(failure, operationId);
  return { status, body };
}

const full = new ServiceError("QUEUE_FULL", "The queue is full.");
const wrong = invalidRequest([
  { loc: ["body", "documents", 3], msg: "Expected a string.", type: "wrong_type" },
  { loc: ["body"], msg: "Expected an object.", type: "wrong_type" },
]);

describe("errors of rerank", () => {
  it("have a sentence where each client looks for it", () => {
    const text = "documents.3: Expected a string. Expected an object.";
    assert.deepEqual(told("cohereRerank", wrong), { status: 422, body: { message: text } });
    assert.deepEqual(told("jinaRerank", wrong), { status: 422, body: { detail: text } });
    assert.deepEqual(told("teiRerank", wrong), {
      status: 422,
      body: { error: text, error_type: "validation" },
    });
  });

  it("keep the plain contract's statuses for Cohere and Jina", () => {
    assert.deepEqual(told("cohereRerank", full), { status: 503, body: { message: "The queue is full." } });
    assert.deepEqual(told("jinaRerank", full), { status: 503, body: { detail: "The queue is full." } });
  });

  const TEI: readonly [ErrorKind, number, string][] = [
    ["KEY_MISSING", 401, "unauthorized"],
    ["UNAUTHORIZED", 401, "unauthorized"],
    ["BODY_TOO_LARGE", 413, "validation"],
    ["RATE_LIMITED", 429, "overloaded"],
    ["QUEUE_FULL", 429, "overloaded"],
    ["OVERLOADED", 429, "overloaded"],
    ["STARTING", 503, "unhealthy"],
    ["DRAINING", 503, "unhealthy"],
    ["DEADLINE_EXCEEDED", 504, "overloaded"],
    ["BACKEND_FAILED", 424, "backend"],
    ["INTERNAL", 424, "backend"],
  ];
  for (const [kind, status, type] of TEI) {
    it(`have TEI's status ${status} and type "${type}" for ${kind}`, () => {
      const { status: came, body } = told("teiRerank", new ServiceError(kind, "said"));
      assert.equal(came, status);
      assert.equal((body as { error_type: string }).error_type, type);
    });
  }

  it("of a failed backend say the request id and nothing of the cause", () => {
    const { body } = told("teiRerank", new ServiceError("BACKEND_FAILED", "a secret"));
    assert.deepEqual(body, {
      error: "The inference backend failed. Request id the-id.",
      error_type: "backend",
    });
  });
});
