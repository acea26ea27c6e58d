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

const cases = [
  {
    name: "an undeclared status",
    status: 404,
    headers: HEADERS,
    body: { detail: "No." },
    want: /does not declare status 404/,
  },
  {
    name: "a lacking header",
    status: 503,
    headers: HEADERS,
    body: { detail: "Full." },
    want: /lacks the header retry-after/,
  },
  {
    name: "a wrong header",
    status: 503,
    headers: { ...HEADERS, "retry-after": "0" },
    body: { detail: "Full." },
    want: /header retry-after/,
  },
  {
    name: "an unknown code",
    status: 503,
    headers: { ...UNAVAILABLE, "x-decision-error": "FULL" },
    body: { detail: "Full." },
    want: /header x-decision-error/,
  },
  {
    name: "a request id with a space",
    status: 503,
    headers: { ...UNAVAILABLE, "x-request-id": "a b" },
    body: { detail: "Full." },
    want: /a b/,
  },
  {
    name: "an undeclared header",
    status: 503,
    headers: { ...UNAVAILABLE, allow: "POST" },
    body: { detail: "Full." },
    want: /does not declare all its headers/,
  },
  {
    name: "another media type",
    status: 503,
    headers: { ...UNAVAILABLE, "content-type": "text/plain" },
    body: "Full.",
    want: /media type text\/plain/,
  },
  {
    name: "another member",
    status: 503,
    headers: UNAVAILABLE,
    body: { detail: "Full.", code: 1 },
    want: /must NOT have additional properties/,
  },
  {
    name: "a list as a sentence",
    status: 503,
    headers: UNAVAILABLE,
    body: { detail: [ISSUE] },
    want: /sentence/,
  },
  {
    name: "a sentence as a list",
    status: 422,
    headers: HEADERS,
    body: { detail: "No." },
    want: /of 422 an array/,
  },
  { name: "no issue", status: 422, headers: HEADERS, body: { detail: [] }, want: /fewer than 1/ },
  {
    name: "an unknown issue type",
    status: 422,
    headers: HEADERS,
    body: { detail: [{ ...ISSUE, type: "odd" }] },
    want: /allowed values/,
  },
  {
    name: "a fault in other words",
    status: 422,
    headers: HEADERS,
    body: { detail: [{ ...ISSUE, msg: "Must not be blank." }] },
    want: /Expected/,
  },
  {
    name: "half an answer",
    status: 200,
    headers: ANSWERED,
    body: { ranked: [] },
    want: /required property 'usage'/,
  },
];

describe("the check of responses", () => {
  for (const { name, status, headers, body, want } of cases) {
    it(`finds ${name}`, () => assert.throws(() => assertDeclared("rank", status, headers, body), want));
  }

  it("finds an answer of another type than its own fields", () => {
    const answer = {
      type: "noul",
      choice: "a",
      probabilities: { a: 0.5, b: 0.5 },
      confidence: 0.5,
      scores: { a: 1, b: 1 },
    };
    assert.throws(() => assertDeclared("systemone", 200, ANSWERED, { answers: { a: answer } }), /'noul'/);
  });

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
