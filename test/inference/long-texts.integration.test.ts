import assert from "node:assert/strict";
import { test } from "node:test";
import { countWhole, encode, holdBounds, IN_RUNS, PLAIN } from "./long-texts.ts";

const MIB = 2 ** 20;
const BLANK_LONG_TEXTS = [
  { name: "1 MiB of spaces", text: " ".repeat(MIB), tokens: 0 },
  { name: "1 MiB of control characters", text: "\u0001".repeat(MIB), tokens: 0 },
  { name: "1 MiB of combining marks on one letter", text: `e${"\u0301".repeat(MIB)}`, tokens: 1 },
  { name: "2,046 words after 1 MiB of spaces", text: `${" ".repeat(MIB)}${"a ".repeat(2046)}`, tokens: 2046 },
];
const LONG_WORD_TEXTS = [
  { name: "one word of 1 MiB", text: "a".repeat(MIB), tokens: 1 },
  { name: "one word of emoji", text: "\u{1f600}".repeat(MIB / 2), tokens: 1 },
  {
    name: "as many words as fit around one of 1 MiB",
    text: `${"a ".repeat(2000)}${"b".repeat(MIB)}${" a".repeat(45)}`,
    tokens: 2046,
  },
];
const ACCEPTED_LONG_TEXTS = [
  ...BLANK_LONG_TEXTS.flatMap((text) => [
    { ...text, kind: PLAIN },
    { ...text, kind: IN_RUNS },
  ]),
  ...LONG_WORD_TEXTS.map((text) => ({ ...text, kind: PLAIN })),
];

for (const { name, text, tokens, kind } of ACCEPTED_LONG_TEXTS) {
  test(`${name} (${kind.name}): accepted, with ${tokens} tokens`, async () => {
    const encoded = await encode("state", text, 2048, kind);
    assert.ok(encoded instanceof Int32Array);
    assert.equal(encoded.length, tokens + 2);
  });
}

const REFUSED_LONG_TEXTS = [
  { name: "running text", text: "The parcel has not arrived. ".repeat(MIB / 14) },
  { name: "punctuation", text: "!?".repeat(MIB) },
  { name: "CJK", text: "\u6f22\u5b57".repeat(MIB / 3) },
  { name: "accents", text: "\u00e9t\u00e9 ".repeat(MIB / 4) },
  { name: "special tokens", text: "[SEP]".repeat(MIB / 3) },
  { name: "punctuation after a word of 512 KiB", text: `${"a".repeat(MIB / 2)}${"!".repeat(MIB)}` },
  { name: "punctuation after 1 MiB of spaces", text: `${" ".repeat(MIB)}${"!".repeat(MIB)}` },
];

function assertRefusedEarly(encoded: unknown): void {
  assert.ok(typeof encoded === "object" && encoded !== null && "isExact" in encoded && "count" in encoded);
  assert.equal(encoded.isExact, false);
  assert.ok(Number(encoded.count) > 2048 && Number(encoded.count) < 70_000, `${encoded.count}`);
}

for (const kind of [IN_RUNS, PLAIN]) {
  for (const { name, text } of REFUSED_LONG_TEXTS) {
    test(`a long text of ${name} (${kind.name}) is refused by a lower bound after a part of it`, async () => {
      assertRefusedEarly(await encode("state", text, 2048, kind));
    });
  }
}

for (const { name, text } of LONG_WORD_TEXTS) {
  test(`${name}: refused by a lower bound where long words are read in runs`, async () => {
    assertRefusedEarly(await encode("state", text));
  });
}

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

for (const kind of [IN_RUNS, PLAIN]) {
  test(`pieces refuse a text only if the whole is too long, and lower bounds hold, on a few random texts (${kind.name})`, async () => {
    await holdBounds(kind, { seed: 1, texts: 3 });
  });
}
