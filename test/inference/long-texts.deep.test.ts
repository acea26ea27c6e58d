import assert from "node:assert/strict";
import { test } from "node:test";
import { BY_PATTERNS, holdBounds, IN_RUNS, PLAIN } from "./long-texts.ts";
import { testLongTexts } from "./long-texts-cases.ts";

testLongTexts({ accepted: 1024, refused: 1024, hasEmojiInRuns: true });

for (const kind of [IN_RUNS, PLAIN, BY_PATTERNS]) {
  test(`pieces refuse a text only if the whole is too long, and lower bounds hold, on random texts (${kind.name})`, async () => {
    const outcomes = await holdBounds(kind, { seed: 1, texts: 50 });
    for (const [outcome, times] of Object.entries(outcomes)) assert.ok(times > 2, `${outcome}: ${times}`);
  });
}
