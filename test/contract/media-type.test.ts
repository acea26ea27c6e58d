import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkMediaType, type HeaderValues } from "../../src/contract/bodies/body.ts";
import { ServiceError } from "../../src/errors.ts";

const JSON_HEADERS = { "content-type": "application/json" };

const accepted: readonly (readonly [string, HeaderValues])[] = [
  ["plain JSON", JSON_HEADERS],
  ["any case", { "content-type": "Application/JSON" }],
  ["a charset", { "content-type": "application/json; charset=utf-8" }],
  ["a charset in capitals, without a space", { "content-type": "application/json;charset=UTF-8" }],
  ["the other label of UTF-8", { "content-type": "application/json; charset=utf8" }],
  ["a quoted charset", { "content-type": 'application/json; charset="utf-8"' }],
  [
    "a charset beside another parameter",
    { "content-type": 'application/json; a="b;charset=x"; charset=utf-8' },
  ],
  ["an unknown parameter", { "content-type": "application/json; version=1" }],
  ["an empty parameter", { "content-type": "application/json;" }],
  ["the identity coding", { ...JSON_HEADERS, "content-encoding": "identity" }],
  ["an empty Content-Encoding", { ...JSON_HEADERS, "content-encoding": "" }],
];

const refused: readonly (readonly [string, HeaderValues])[] = [
  ["no Content-Type", {}],
  ["an empty Content-Type", { "content-type": "" }],
  ["text", { "content-type": "text/plain" }],
  ["a form", { "content-type": "application/x-www-form-urlencoded" }],
  ["a +json type", { "content-type": "application/problem+json" }],
  ["a type that only begins like JSON", { "content-type": "application/jsonl" }],
  ["two types", { "content-type": "application/json, text/plain" }],
  ["text/json", { "content-type": "text/json" }],
  ["Latin 1", { "content-type": "application/json; charset=latin1" }],
  ["quoted UTF-16", { "content-type": 'application/json; charset="utf-16"' }],
  [
    "two charsets of which one is not UTF-8",
    { "content-type": "application/json; charset=utf-8; charset=ascii" },
  ],
  ["gzip", { ...JSON_HEADERS, "content-encoding": "gzip" }],
  ["zstd after identity", { ...JSON_HEADERS, "content-encoding": "identity, zstd" }],
  ["several Content-Encoding headers", { ...JSON_HEADERS, "content-encoding": ["identity", "br"] }],
];

describe("the media type of a body", () => {
  for (const [name, headers] of accepted) {
    it(`may be given with ${name}`, () => checkMediaType(headers));
  }

  for (const [name, headers] of refused) {
    it(`is refused with ${name}`, () => {
      assert.throws(() => checkMediaType(headers), isMediaTypeIssue);
    });
  }
});

function isMediaTypeIssue(error: unknown): boolean {
  assert.ok(error instanceof ServiceError && error.kind === "INVALID_REQUEST");
  assert.deepEqual(
    error.issues.map(({ loc, type }) => ({ loc, type })),
    [{ loc: ["body"], type: "media_type" }],
  );
  return true;
}
