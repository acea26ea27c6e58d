import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkMediaType } from "../../src/contract/bodies/media-type.ts";
import { ServiceError } from "../../src/errors.ts";

const JSON_HEADERS = { "content-type": "application/json" };

const accepted = [
  { name: "plain JSON", headers: JSON_HEADERS },
  { name: "any case", headers: { "content-type": "Application/JSON" } },
  { name: "a charset", headers: { "content-type": "application/json; charset=utf-8" } },
  {
    name: "a charset in capitals, without a space",
    headers: { "content-type": "application/json;charset=UTF-8" },
  },
  { name: "the other label of UTF-8", headers: { "content-type": "application/json; charset=utf8" } },
  { name: "a quoted charset", headers: { "content-type": 'application/json; charset="utf-8"' } },
  {
    name: "a charset beside another parameter",
    headers: { "content-type": 'application/json; a="b;charset=x"; charset=utf-8' },
  },
  { name: "an unknown parameter", headers: { "content-type": "application/json; version=1" } },
  { name: "an empty parameter", headers: { "content-type": "application/json;" } },
  { name: "the identity coding", headers: { ...JSON_HEADERS, "content-encoding": "identity" } },
  { name: "an empty Content-Encoding", headers: { ...JSON_HEADERS, "content-encoding": "" } },
];

const refused = [
  { name: "no Content-Type", headers: {} },
  { name: "an empty Content-Type", headers: { "content-type": "" } },
  { name: "text", headers: { "content-type": "text/plain" } },
  { name: "a form", headers: { "content-type": "application/x-www-form-urlencoded" } },
  { name: "a +json type", headers: { "content-type": "application/problem+json" } },
  { name: "a type that only begins like JSON", headers: { "content-type": "application/jsonl" } },
  { name: "two types", headers: { "content-type": "application/json, text/plain" } },
  { name: "text/json", headers: { "content-type": "text/json" } },
  { name: "Latin 1", headers: { "content-type": "application/json; charset=latin1" } },
  { name: "quoted UTF-16", headers: { "content-type": 'application/json; charset="utf-16"' } },
  {
    name: "two charsets of which one is not UTF-8",
    headers: { "content-type": "application/json; charset=utf-8; charset=ascii" },
  },
  { name: "gzip", headers: { ...JSON_HEADERS, "content-encoding": "gzip" } },
  { name: "zstd after identity", headers: { ...JSON_HEADERS, "content-encoding": "identity, zstd" } },
  {
    name: "several Content-Encoding headers",
    headers: { ...JSON_HEADERS, "content-encoding": ["identity", "br"] },
  },
];

describe("the media type of a body", () => {
  for (const { name, headers } of accepted) {
    it(`may be given with ${name}`, () => checkMediaType(headers));
  }

  for (const { name, headers } of refused) {
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
