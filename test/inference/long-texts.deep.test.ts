import assert from "node:assert/strict";
import { test } from "node:test";
import { BY_PATTERNS, encode, holdBounds, IN_RUNS, PLAIN } from "./long-texts.ts";

const bytes = 2 ** 20;
const size = "1 MiB";
const EMOJI = "\u{1f600}";

const BLANK = [
  { name: `${size} of spaces`, text: " ".repeat(bytes), tokens: 0 },
  { name: `${size} of control characters`, text: "\u0001".repeat(bytes), tokens: 0 },
  { name: `${size} of combining marks on one letter`, text: `e${"\u0301".repeat(bytes)}`, tokens: 1 },
  {
    name: `2,046 words after ${size} of spaces`,
    text: `${" ".repeat(bytes)}${"a ".repeat(2046)}`,
    tokens: 2046,
  },
];

const LONG_WORDS = [
  { name: `one word of ${size}`, text: "a".repeat(bytes), tokens: 1 },
  { name: `one word of emoji, ${size}`, text: EMOJI.repeat(bytes / 2), tokens: 1 },
  {
    name: `as many words as fit around one of ${size}`,
    text: `${"a ".repeat(2000)}${"b".repeat(bytes)}${" a".repeat(45)}`,
    tokens: 2046,
  },
];

const ACCEPTED_LONG_TEXTS = [
  ...BLANK.flatMap((text) => [
    { ...text, kind: PLAIN },
    { ...text, kind: IN_RUNS },
  ]),
  ...LONG_WORDS.map((text) => ({ ...text, kind: PLAIN })),
];

for (const { name, text, tokens, kind } of ACCEPTED_LONG_TEXTS) {
  test(`${name} (${kind.name}): accepted, with ${tokens} tokens`, async () => {
    const encoded = await encode("state", text, 2048, kind);
    assert.ok(encoded instanceof Int32Array);
    assert.equal(encoded.length, tokens + 2);
  });
}

const REFUSED_LONG_TEXTS = [
  ["running text", "The parcel has not arrived. ".repeat(Math.floor(bytes / 14))],
  ["punctuation", "!?".repeat(bytes)],
  ["CJK", "\u6f22\u5b57".repeat(Math.floor(bytes / 3))],
  ["accents", "\u00e9t\u00e9 ".repeat(bytes / 4)],
  ["special tokens", "[SEP]".repeat(Math.floor((2 * bytes) / 3))],
  ["punctuation after a word of half as much", `${"a".repeat(bytes / 2)}${"!".repeat(bytes)}`],
  [`punctuation after ${size} of spaces`, `${" ".repeat(bytes)}${"!".repeat(bytes)}`],
] as const;

function assertRefusedEarly(encoded: unknown): void {
  assert.ok(typeof encoded === "object" && encoded !== null && "isExact" in encoded && "count" in encoded);
  assert.equal(encoded.isExact, false);
  assert.ok(Number(encoded.count) > 2048 && Number(encoded.count) < 70_000, `${encoded.count}`);
}

for (const kind of [IN_RUNS, PLAIN]) {
  for (const [name, text] of REFUSED_LONG_TEXTS) {
    test(`a long text of ${name} (${kind.name}) is refused by a lower bound after a part of it`, async () => {
      assertRefusedEarly(await encode("state", text, 2048, kind));
    });
  }
}

for (const { name, text } of LONG_WORDS) {
  test(`${name}: refused by a lower bound where long words are read in runs`, async () => {
    assertRefusedEarly(await encode("state", text, 2048, IN_RUNS));
  });
}

for (const kind of [IN_RUNS, PLAIN, BY_PATTERNS]) {
  test(`pieces refuse a text only if the whole is too long, and lower bounds hold, on random texts (${kind.name})`, async () => {
    const outcomes = await holdBounds(kind, { seed: 1, texts: 50 });
    for (const [outcome, times] of Object.entries(outcomes)) assert.ok(times > 2, `${outcome}: ${times}`);
  });
}
