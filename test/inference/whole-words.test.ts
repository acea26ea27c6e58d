import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Tokenizer as Library } from "tokenizers";
import { WholeWords } from "../../src/inference/tokens/whole-words.ts";
import { packageRoot } from "../support/package-root.ts";
import { BY_PATTERNS, EMBEDDED, encodeAll, IN_RUNS, json, type Kind, kindOf, PLAIN } from "./long-texts.ts";
import { Random } from "./random.ts";

const CASED = await casedKind();

function casedKind(): Promise<Kind> {
  const file = JSON.parse(json);
  return kindOf(
    "with upper case",
    JSON.stringify({ ...file, normalizer: { ...file.normalizer, lowercase: false } }),
  );
}

/** Compares the tokens of the texts with those that the library gives for each as a whole. */
async function compare(texts: readonly string[], kind: Kind): Promise<void> {
  const parts = texts.map((text) => ({ role: "question" as const, text, maxTokens: 100_000 }));
  const encoded = await encodeAll(parts, 20, kind);
  for (const [at, text] of texts.entries()) {
    const tokens = encoded[at];
    assert.ok(tokens instanceof Int32Array);
    const whole = await kind.reference.encode(text, null, { addSpecialTokens: false });
    assert.deepEqual([...tokens].slice(0, -1), whole.getIds(), JSON.stringify(text));
  }
}

const FRAGMENTS = [
  ..."the Parcel ARRIVED unquestionably xqzt 42 2024 a1b2 ing s # ## [SEP] [ ##s ##ing ' n't ... - _".split(
    " ",
  ),
  ..."$9.99 ^ ` ~ | \\ ] @".split(" "),
  ...[" ", "  ", "\n", "\t", "\r\n", "q".repeat(100), "q".repeat(101), "z9".repeat(120)],
];
/** With these, a text must be encoded as a whole. */
const OTHERS = "[\u00b2 \ufeff \u00e9 e\u0301 \u6f22 \u0000 \u007f \u00a0 \u0130 \u000b".split(" ");

for (const kind of [IN_RUNS, PLAIN, CASED, BY_PATTERNS]) {
  test(`texts have the library's tokens: ${kind.name}`, async () => {
    const random = new Random(7);
    const pick = () => random.pick(random.between(0, 20) === 0 ? OTHERS : FRAGMENTS);
    const text = () => Array.from({ length: random.between(0, 30) }, pick).join(random.pick(["", " "]));
    await compare(Array.from({ length: 200 }, text), kind);
  });
}

test("real texts have the library's tokens", async () => {
  const folder = path.join(packageRoot, "docs");
  const files = ["api.md", "deployment.md", "dialects.md"];
  const lines = files.flatMap((name) => readFileSync(path.join(folder, name), "utf8").split("\n\n"));
  await compare(lines, EMBEDDED);
});

test("long texts have the library's tokens", async () => {
  const random = new Random(8);
  const fragments = FRAGMENTS.filter(({ length }) => length <= 100); // a longer word leaves the text to the library
  const text = () => Array.from({ length: 2_000 }, () => random.pick(fragments)).join(" ");
  const texts = Array.from({ length: 2 }, text);
  assert.ok(texts.every(({ length }) => length > 10_000 && length < 32_768));
  await compare(texts, IN_RUNS);
});

/** Turns of the event loop while `work` is under way. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await work();
  clearImmediate(next);
  return turns;
}

test("other work runs between the groups of a large request", async () => {
  const part = { role: "candidate" as const, text: "the ".repeat(1000), maxTokens: 2000 };
  const turns = await turnsDuring(async () => {
    const encoded = await encodeAll(Array.from({ length: 100 }, () => part)); // 13 groups
    assert.equal(encoded.length, 100);
  });
  assert.ok(turns >= 12, `${turns} turns`);
});

const wordsOf = (file: string, longestWord = 100) =>
  WholeWords.of(Library.fromString(JSON.stringify({ ...JSON.parse(file), added_tokens: [] })), longestWord);

test("words of the vocabulary are looked up, other words are left to the library", async () => {
  const { vocab } = JSON.parse(json).model;
  const words = (await wordsOf(json)) ?? assert.fail("they are not looked up");
  const { ids, others } = words.split("The OLD xqzt, parcel") ?? assert.fail("it is not split");
  assert.deepEqual([ids[0], ids[2], ids[3], others], [vocab.the, undefined, vocab[","], "xqzt"]);
  assert.deepEqual(words.split(" \n")?.ids, []);
  for (const text of ["\u00e9", "a\u0000b", "a".repeat(101), "a ".repeat(16_385)])
    assert.equal(words.split(text), undefined, text);
  assert.ok(words.split("a ".repeat(16_384)));
});

test("no words are looked up of a tokenizer that reads plain texts otherwise", async () => {
  const file = JSON.parse(json);
  const replace = (pattern: object, content: string) => ({ type: "Replace", pattern, content });
  const others: Record<string, object> = {
    "no punctuation": { pre_tokenizer: { type: "WhitespaceSplit" } },
    "joined words": { pre_tokenizer: { type: "Punctuation" } },
    "other characters": { normalizer: replace({ String: "$" }, "b") },
    "dropped characters": { normalizer: replace({ String: "^" }, "") },
  };
  for (const [name, change] of Object.entries(others))
    assert.equal(await wordsOf(JSON.stringify({ ...file, ...change })), undefined, name);
});
