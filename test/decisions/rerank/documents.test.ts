import assert from "node:assert/strict";
import { it } from "node:test";
import { documentTexts } from "../../../src/decisions/rerank/documents.ts";
import { JsonNumber } from "../../../src/json/value.ts";
import { issuesOf } from "../issues.ts";

const LOC = ["body", "documents"];

it("documents are strings, or objects with a text", () => {
  const documents = ["one", new Map([["text", "two"]]), ""];
  assert.deepEqual(documentTexts(documents, LOC), ["one", "two", ""]);
});

it("other documents are refused with their place", async () => {
  for (const wrong of [null, new JsonNumber("1"), [], new Map(), new Map([["text", true]])]) {
    const reading = (async () => documentTexts(["fine", wrong], LOC))();
    const issues = await issuesOf(reading);
    assert.deepEqual(
      issues.map(({ loc, type }) => ({ loc, type })),
      [{ loc: [...LOC, 1], type: "wrong_type" }],
    );
  }
});
