import assert from "node:assert/strict";
import { test } from "node:test";
import { contextPieces, pairPieces, promptPieces } from "../../src/inference/tokens/joint-text.ts";
import { jointPackages } from "../support/gemma3.ts";

test("joint texts are those of the golden decisions", () => {
  let compared = 0;
  for (const { decisions } of jointPackages) {
    for (const { state, question, candidates, texts = [] } of decisions) {
      for (const [i, text] of texts.entries()) {
        assert.equal(pairPieces(state, question, candidates[i] ?? "").join(""), text);
        compared += 1;
      }
    }
  }
  assert.ok(compared > 100);
});

test("a blank state or question is left out together with its blank line", () => {
  assert.equal(pairPieces("s", "q", "c").join(""), "s\n\nq\n\nCandidate action:\nc");
  assert.equal(pairPieces("", "q", "c").join(""), "q\n\nCandidate action:\nc");
  assert.equal(pairPieces("s", "", "c").join(""), "s\n\nCandidate action:\nc");
  assert.equal(promptPieces("s", "q").join(""), "s\n\nq\n\nCandidate action:\n");
  assert.equal(contextPieces("s", "q").join(""), "s\n\nq");
  assert.deepEqual(contextPieces("", ""), []);
});
