import assert from "node:assert/strict";
import { test } from "node:test";
import { encode, IN_RUNS, PLAIN } from "./long-texts.ts";

const EMOJI = "\u{1f600}";

function blankLongTexts(kib: number) {
  const bytes = kib * 1024;
  const size = `${kib} KiB`;
  return [
    { name: `${size} of spaces`, text: " ".repeat(bytes), tokens: 0 },
    { name: `${size} of control characters`, text: "\u0001".repeat(bytes), tokens: 0 },
    { name: `${size} of combining marks on one letter`, text: `e${"\u0301".repeat(bytes)}`, tokens: 1 },
    {
      name: `2,046 words after ${size} of spaces`,
      text: `${" ".repeat(bytes)}${"a ".repeat(2046)}`,
      tokens: 2046,
    },
  ];
}

function longWordTexts(kib: number) {
  const bytes = kib * 1024;
  const size = `${kib} KiB`;
  return [
    { name: `one word of ${size}`, text: "a".repeat(bytes), tokens: 1 },
    { name: `one word of emoji, ${size}`, text: EMOJI.repeat(bytes / 2), tokens: 1 },
    {
      name: `as many words as fit around one of ${size}`,
      text: `${"a ".repeat(2000)}${"b".repeat(bytes)}${" a".repeat(45)}`,
      tokens: 2046,
    },
  ];
}

export interface LongTextSizes {
  /** KiB of a part of each text that is accepted: some pieces. */
  readonly accepted: number;
  /** The same of those that are refused: 512 at least, so that a part of them is enough. */
  readonly refused: number;
  /** Whether a word of emoji is read in runs, too, which takes seconds. */
  readonly hasEmojiInRuns: boolean;
}

export function testLongTexts({ accepted, refused, hasEmojiInRuns }: LongTextSizes): void {
  const ACCEPTED_LONG_TEXTS = [
    ...blankLongTexts(accepted).flatMap((text) => [
      { ...text, kind: PLAIN },
      { ...text, kind: IN_RUNS },
    ]),
    ...longWordTexts(accepted).map((text) => ({ ...text, kind: PLAIN })),
  ];

  for (const { name, text, tokens, kind } of ACCEPTED_LONG_TEXTS) {
    test(`${name} (${kind.name}): accepted, with ${tokens} tokens`, async () => {
      const encoded = await encode("state", text, 2048, kind);
      assert.ok(encoded instanceof Int32Array);
      assert.equal(encoded.length, tokens + 2);
    });
  }

  const bytes = refused * 1024;
  const size = `${refused} KiB`;
  const REFUSED_LONG_TEXTS = [
    { name: "running text", text: "The parcel has not arrived. ".repeat(Math.floor(bytes / 14)) },
    { name: "punctuation", text: "!?".repeat(bytes) },
    { name: "CJK", text: "\u6f22\u5b57".repeat(Math.floor(bytes / 3)) },
    { name: "accents", text: "\u00e9t\u00e9 ".repeat(bytes / 4) },
    { name: "special tokens", text: "[SEP]".repeat(Math.floor((2 * bytes) / 3)) },
    {
      name: "punctuation after a word of half as much",
      text: `${"a".repeat(bytes / 2)}${"!".repeat(bytes)}`,
    },
    { name: `punctuation after ${size} of spaces`, text: `${" ".repeat(bytes)}${"!".repeat(bytes)}` },
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

  for (const { name, text } of longWordTexts(refused)) {
    if (text.startsWith(EMOJI) && !hasEmojiInRuns) continue;
    test(`${name}: refused by a lower bound where long words are read in runs`, async () => {
      assertRefusedEarly(await encode("state", text, 2048, IN_RUNS));
    });
  }
}
