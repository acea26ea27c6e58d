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
  {
    name: "nothing of plain texts",
    given: reading("one  two\n", undefined, "one", "two", undefined),
    want: [],
  },
  {
    name: "characters between tokens",
    given: reading("a\u200db\u00ad c", "a", "b", "c"),
    want: ["U+200D", "U+00AD"],
  },
  { name: "each once", given: reading("\u200ea\u200e\u200eb\u200e", "a", "b"), want: ["U+200E"] },
  { name: "characters beyond the first plane", given: reading("a\u{e0041}", "a"), want: ["U+E0041"] },
  { name: "no white space", given: reading("a\u000bb\u0085c\u3000d", "a", "b", "c", "d"), want: ["U+0085"] },
  { name: "no accents", given: reading("e\u0301a", "e", "a"), want: [] },
  {
    name: "nothing beside a character with several tokens",
    given: reading("\u00bd a \u00bd", "\u00bd", "\u00bd", "\u00bd", "a", "\u00bd"),
    want: [],
  },
  { name: "nothing where sources are not known", given: reading("a\u200db", undefined, undefined), want: [] },
];

for (const { name, given, want } of CASES)
  test(`what is left out: ${name}`, () => assert.deepEqual(leftOut(given), want));
