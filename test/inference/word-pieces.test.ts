import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { openTokenizer } from "../../src/engine.ts";
import type { PartRole } from "../../src/inference/tokens/part-plan.ts";
import { WordPieceEncoder } from "../../src/inference/tokens/word-pieces.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { embeddedModel } from "../support/package-root.ts";
import { countWhole, holdBounds, IN_RUNS, json, type Kind, PLAIN, tokenizer } from "./piece-bounds.ts";

function encode(role: PartRole, text: string, maxTokens = 2048, kind: Kind = IN_RUNS) {
  return encodeAll([{ role, text, maxTokens }], 20, kind).then(([tokens]) => tokens);
}

function encodeAll(
  parts: { role: PartRole; text: string; maxTokens: number }[],
  maxTooMany = 20,
  kind: Kind = IN_RUNS,
) {
  return kind.tokenizer.encodeParts(parts, { maxTooMany, signal: new AbortController().signal });
}

interface Golden {
  decisions: {
    state: string;
    question: string;
    candidates: string[];
    token_ids: { state: number[]; question: number[]; candidates: number[][] };
  }[];
}

test("every text of golden.json has exactly the golden token ids", async () => {
  const golden: Golden = JSON.parse(readFileSync(path.join(embeddedModel, "golden.json"), "utf8"));
  assert.ok(golden.decisions.length > 0);
  for (const { state, question, candidates, token_ids } of golden.decisions) {
    const encoded = await encodeAll([
      { role: "state", text: state, maxTokens: 2048 },
      { role: "question", text: question, maxTokens: 2048 },
      ...candidates.map((text) => ({ role: "candidate" as const, text, maxTokens: 768 })),
    ]);
    const want = [token_ids.state, token_ids.question, ...token_ids.candidates];
    assert.deepEqual(
      encoded.map((tokens) => (tokens instanceof Int32Array ? [...tokens] : tokens)),
      want,
    );
  }
});

test("an empty text has only the special tokens of its part", async () => {
  assert.deepEqual(await encode("state", ""), Int32Array.of(101, 102));
  assert.deepEqual(await encode("question", ""), Int32Array.of(102));
  assert.deepEqual(await encode("candidate", " \n"), Int32Array.of(101, 102));
});

test("a limit counts special tokens and is kept to the token", async () => {
  assert.equal(((await encode("state", "a ".repeat(2046))) as Int32Array).length, 2048);
  assert.deepEqual(await encode("state", "a ".repeat(2047)), { count: 2049, isExact: true });
  assert.deepEqual(await encode("question", "a ".repeat(2048)), { count: 2049, isExact: true });
  assert.deepEqual(await encode("candidate", "a ".repeat(767), 768), { count: 769, isExact: true });
});

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

test("long words are read: other characters, other tokens, and as many as their runs of 100 have", async () => {
  const [a, b] = [await encode("state", "a".repeat(200)), await encode("state", "b".repeat(200))];
  assert.ok(a instanceof Int32Array && b instanceof Int32Array);
  assert.notDeepEqual(a, b);
  const run = await encode("state", "a".repeat(100));
  assert.ok(run instanceof Int32Array);
  assert.deepEqual([...a], [101, ...run.slice(1, -1), ...run.slice(1, -1), 102]);
});

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

test("parts are left out after enough refusals, and the order of parts is kept across pieces", async () => {
  const long = { role: "candidate" as const, text: "a ".repeat(10_000), maxTokens: 768 };
  const short = { role: "candidate" as const, text: "a", maxTokens: 768 };
  const encoded = await encodeAll([short, long, long, short, long, long, short], 3);
  assert.ok(encoded.length >= 5 && encoded.length < 7);
  const isRefused = encoded.map((tokens) => !(tokens instanceof Int32Array));
  assert.deepEqual(isRefused.slice(0, 5), [false, true, true, false, true]);
});

test("an aborted signal ends tokenizing", async () => {
  const parts = [{ role: "state" as const, text: "a", maxTokens: 10 }];
  const options = { maxTooMany: 20, signal: AbortSignal.abort(new Error("gone")) };
  await assert.rejects(tokenizer.encodeParts(parts, options), /gone/);
});

test("a tokenizer of another kind is refused, since the proof of the lower bound is not about it", () => {
  const others = [
    "no JSON",
    json.replace('"max_input_chars_per_word": 100', '"max_input_chars_per_word": "many"'),
    json.replace("BertPreTokenizer", "Whitespace"),
    json.replace("{100}", "{99}"),
    json.replaceAll('"[MASK]"', '"mask it"'),
  ];
  for (const other of others) assert.throws(() => new WordPieceEncoder(other), { kind: "INVALID_MODEL" });
});

test("the service does not tokenize a text again that came before", async () => {
  const text = (words: string) => ({ text: words, loc: [] });
  const request = {
    state: text("The parcel has not arrived."),
    questions: [{ question: text("What now?"), candidates: [{ ...text("refund"), label: "refund" }] }],
  };
  const limits = { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 };
  const served = await openTokenizer(await openModelPackage(embeddedModel));
  const encode = () => served.encodeRequest(request, limits, new AbortController().signal);
  const [first, second] = [(await encode()).plan[0]?.[0], (await encode()).plan[0]?.[0]];
  assert.ok(first && second);
  assert.equal(second.state, first.state); // the same array
  assert.equal(second.candidate, first.candidate);
});
