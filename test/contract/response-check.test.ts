import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertDeclared, assertProtocolError } from "./response-check.ts";

const ANSWERED = {
  "content-type": "application/json; charset=utf-8",
  "x-request-id": "a",
  "server-timing": "total;dur=1",
};
const { "server-timing": _, ...UNTIMED } = ANSWERED;
const HEADERS = { ...UNTIMED, "x-decision-error": "QUEUE_FULL" };
const UNAVAILABLE = { ...HEADERS, "retry-after": "1" };
const ISSUE = { loc: ["body", 1], msg: "Expected a text, got a blank one.", type: "blank" };

const FULL = { detail: "Full." };
const cases: readonly [string, number, Readonly<Record<string, string>>, unknown, RegExp][] = [
  ["an undeclared status", 404, HEADERS, { detail: "No." }, /does not declare status 404/],
  ["a lacking header", 503, HEADERS, FULL, /lacks the header retry-after/],
  ["a wrong header", 503, { ...HEADERS, "retry-after": "0" }, FULL, /header retry-after/],
  ["an undeclared header", 503, { ...UNAVAILABLE, allow: "POST" }, FULL, /does not declare all its headers/],
  ["another media type", 503, { ...UNAVAILABLE, "content-type": "text/plain" }, "Full.", /media type text/],
  ["another member", 503, UNAVAILABLE, { ...FULL, code: 1 }, /must NOT have additional properties/],
  ["a sentence as a list", 422, HEADERS, { detail: "No." }, /of 422 an array/],
  ["a fault in other words", 422, HEADERS, { detail: [{ ...ISSUE, msg: "Must not be blank." }] }, /Expected/],
  ["half an answer", 200, ANSWERED, { ranked: [] }, /required property 'usage'/],
];

describe("the check of responses", () => {
  for (const [name, status, headers, body, want] of cases)
    it(`finds ${name}`, () => assert.throws(() => assertDeclared("rank", status, headers, body), want));

  it("passes declared errors, with headers in any form", () => {
    assertDeclared("rank", 422, new Headers(HEADERS), { detail: [ISSUE] });
    assertDeclared("rank", 503, { ...HEADERS, "Retry-After": 1 }, { detail: "Full." });
  });

  it("passes errors outside operations, of which 405 names the methods", () => {
    const notFound = { ...HEADERS, "x-decision-error": "NOT_FOUND" };
    assertProtocolError(404, notFound, { detail: "No such path." });
    assert.throws(() => assertProtocolError(405, notFound, { detail: "No such method." }));
    assert.throws(() => assertProtocolError(401, HEADERS, { detail: "No." }), /no 401 with QUEUE_FULL/);
  });
});
