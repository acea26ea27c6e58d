import assert from "node:assert/strict";
import { test } from "node:test";
import { leftOut } from "../../src/cli/output/left-out.ts";

const reading = (text: string, ...sources: (string | undefined)[]) => ({
  text,
  tokens: sources.map((source) => ({
    id: 1,
    text: "x",
    is_unknown: false,
    ...(source !== undefined && { source }),
  })),
});

const CASES = [
  ["nothing of plain texts", reading("one  two\n", undefined, "one", "two", undefined), []],
  ["characters between tokens", reading("a\u200db\u00ad c", "a", "b", "c"), ["U+200D", "U+00AD"]],
  ["each once", reading("\u200ea\u200e\u200eb\u200e", "a", "b"), ["U+200E"]],
  ["characters beyond the first plane", reading("a\u{e0041}", "a"), ["U+E0041"]],
  ["no white space", reading("a\u000bb\u0085c\u3000d", "a", "b", "c", "d"), ["U+0085"]],
  ["no accents", reading("e\u0301a", "e", "a"), []],
  [
    "nothing beside a character with several tokens",
    reading("\u00bd a \u00bd", "\u00bd", "\u00bd", "\u00bd", "a", "\u00bd"),
    [],
  ],
  ["nothing where sources are not known", reading("a\u200db", undefined, undefined), []],
] as const;

for (const [name, given, want] of CASES)
  test(`what is left out: ${name}`, () => assert.deepEqual(leftOut(given), want));
