import assert from "node:assert/strict";
import { test } from "node:test";
import { BY_PATTERNS, countWhole, encode, holdBounds, IN_RUNS, PLAIN } from "./long-texts.ts";

test("a word that a cut leaves with 100 tokens on either side does not refuse the text that it is one token of", async () => {
  const before = "a!".repeat((32_768 - 100) / 2);
  const after = "!a".repeat(16_000);
  for (const word of ["q".repeat(200), `[${"q".repeat(99)}${"q".repeat(100)}`]) {
    const text = `${before}${word}${after}`;
    const count = await countWhole(text, PLAIN);
    assert.ok((await encode("state", text, count, PLAIN)) instanceof Int32Array);
    assert.ok(!((await encode("state", text, count - 1, PLAIN)) instanceof Int32Array));
  }
});

test("a word that the beginning of a text cuts refuses no text that it is one token of", async () => {
  const begun = (18 + 128) * 8; // units that are read first of a text that may have 18 tokens of its own
  const text = " ".repeat(begun - 100) + "q".repeat(200);
  assert.equal(((await encode("state", text, 20, PLAIN)) as Int32Array).length, 3);
});

for (const kind of [IN_RUNS, PLAIN, BY_PATTERNS]) {
  test(`a text is refused only if it is too long, and lower bounds hold, on a few random texts (${kind.name})`, async () => {
    await holdBounds(kind, { seed: 1, texts: 1 });
  });
}
