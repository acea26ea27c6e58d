import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/errors.ts";
import { characterMapFault } from "../../src/inference/tokens/character-map.ts";
import { LibraryEncoder } from "../../src/inference/tokens/library-encoder.ts";
import { openPairEncoder } from "../../src/inference/tokens/pair-tokenizer.ts";
import { packageRoot } from "../support/package-root.ts";

const goldenFile = (name: string) =>
  readFileSync(path.join(packageRoot, "test/golden/classifiers", name, "tokenizer.json"), "utf8");

const signal = new AbortController().signal;

async function idsOf(encoder: LibraryEncoder, text: string, maxTokens = 1000): Promise<readonly number[]> {
  const [tokens] = await encoder.encodeParts([{ text, maxTokens }], { maxTooMany: 1, signal });
  assert.ok(tokens instanceof Int32Array);
  return [...tokens];
}

interface Added {
  id: number;
  content: string;
  special: boolean;
}

for (const name of ["bert", "roberta", "xlm-roberta-reranker"])
  describe(`the tokenizer of ${name}`, () => {
    const json = goldenFile(name);
    const { added_tokens: added }: { added_tokens: readonly Added[] } = JSON.parse(json);

    it("reads nothing in a text as a special token", async () => {
      const encoder = await LibraryEncoder.open(JSON.parse(json), undefined);
      for (const { content, id, special } of added) {
        if (!special || /unk/i.test(content)) continue; // an unknown character is the unknown token
        for (const text of [content, `a ${content} b`, `a${content}b`, ` ${content}`, `  ${content} `])
          assert.ok(!(await idsOf(encoder, text)).includes(id), JSON.stringify(text));
      }
    });

    it("puts the special tokens of its file around texts", async () => {
      const { before, between, after } = (await openPairEncoder(json, undefined)).frame;
      const id = (content: string) => added.find((token) => token.content === content)?.id;
      const isBert = name === "bert";
      assert.deepEqual([...before], [id(isBert ? "[CLS]" : "<s>")]);
      const end = id(isBert ? "[SEP]" : "</s>");
      assert.deepEqual([...between], isBert ? [end] : [end, end]);
      assert.deepEqual([...after], [end]);
    });

    it("that has more tokens than the model is refused", async () => {
      await assert.rejects(openPairEncoder(json, 50), invalid(/tokens, but the model knows 50/));
    });
  });

it("token types follow the file", async () => {
  assert.equal((await openPairEncoder(goldenFile("bert"), undefined)).frame.types, "by-separator");
  assert.equal((await openPairEncoder(goldenFile("roberta"), undefined)).frame.types, "zero");
});

it("added tokens keep their ids where special tokens stand before them", async () => {
  const file = JSON.parse(goldenFile("roberta"));
  const next = Object.keys(file.model.vocab).length;
  const token = (content: string, id: number, special: boolean) => ({
    id,
    content,
    special,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  });
  file.added_tokens.push(token("[extra]", next, true), token("@@", next + 1, false));
  const encoder = await LibraryEncoder.open(file, undefined);
  assert.ok((await idsOf(encoder, "a @@ b")).includes(next + 1));
  assert.ok(!(await idsOf(encoder, "a [extra] b")).includes(next));
});

describe("a long text", () => {
  const most = { maxTooMany: 1, signal };

  it("is refused with a lower bound after its beginning", async () => {
    const encoder = await LibraryEncoder.open(JSON.parse(goldenFile("bert")), undefined);
    const text = "word ".repeat(400_000);
    const [tokens] = await encoder.encodeParts([{ text, maxTokens: 512 }], most);
    assert.ok(tokens !== undefined && !(tokens instanceof Int32Array));
    assert.equal(tokens.isExact, false);
    assert.ok(tokens.count > 512 && tokens.count < 50_000, `${tokens.count}`);
  });

  for (const name of ["roberta", "xlm-roberta-reranker"])
    it(`of one word is refused after its beginning by ${name}`, async () => {
      const encoder = await LibraryEncoder.open(JSON.parse(goldenFile(name)), undefined);
      for (const text of ["a".repeat(1_000_000), "👍🏽".repeat(250_000)]) {
        const [tokens] = await encoder.encodeParts([{ text, maxTokens: 512 }], most);
        if (tokens instanceof Int32Array && !text.startsWith("a")) continue; // unknown characters are one token
        assert.ok(!(tokens instanceof Int32Array));
        assert.equal(tokens?.isExact, false);
        assert.ok(tokens !== undefined && tokens.count > 512 && tokens.count < 50_000);
      }
    });

  for (const [name, text] of [
    ["of blanks", " ".repeat(200_000)],
    ["of one word", "a".repeat(200_000)],
    ["that begins with blanks", `${" ".repeat(100_000)}word word`],
  ] as const)
    it(`${name} is counted exactly`, async () => {
      const encoder = await LibraryEncoder.open(JSON.parse(goldenFile("bert")), undefined);
      const [tokens] = await encoder.encodeParts([{ text, maxTokens: 512 }], most);
      assert.ok(tokens instanceof Int32Array || tokens?.isExact === true);
    });

  it("has as many tokens as the limit", async () => {
    const encoder = await LibraryEncoder.open(JSON.parse(goldenFile("bert")), undefined);
    const text = "x ".repeat(5000).trim();
    assert.equal((await idsOf(encoder, text, 5000)).length, 5000);
    const [over] = await encoder.encodeParts([{ text, maxTokens: 4999 }], most);
    assert.deepEqual(over, { count: 5000, isExact: true });
  });
});

describe("a tokenizer.json is refused", () => {
  const broken: readonly [string, (file: Record<string, never>) => unknown, RegExp][] = [
    ["that is no tokenizer", () => ({}), /a model of the kind none, expected BPE, Unigram, WordPiece/],
    [
      "of another kind",
      (file) => ({ ...file, model: { type: "WordLevel", vocab: {} } }),
      /the kind "WordLevel"/,
    ],
    [
      "without a post-processor",
      (file) => ({ ...file, post_processor: null }),
      /no special tokens between and after/,
    ],
    [
      "with a broken model",
      (file) => ({ ...file, model: { type: "WordPiece" } }),
      /cannot be read as a tokenizer/,
    ],
    [
      "with a broken map",
      (file) => ({ ...file, normalizer: { type: "Precompiled", precompiled_charsmap: "AAAA" } }),
      /a precompiled_charsmap that is too short/,
    ],
    [
      "with a broken map in a sequence",
      (file) => ({
        ...file,
        normalizer: {
          type: "Sequence",
          normalizers: [{ type: "Precompiled", precompiled_charsmap: "/////w==" }],
        },
      }),
      /a precompiled_charsmap that states a wrong size/,
    ],
  ];
  for (const [name, change, want] of broken)
    it(name, async () => {
      const json = JSON.stringify(change(JSON.parse(goldenFile("bert"))));
      await assert.rejects(openPairEncoder(json, undefined), invalid(want));
    });

  it("that is no JSON", async () => {
    await assert.rejects(openPairEncoder("{", undefined), invalid(/cannot be read as a tokenizer/));
  });
});

describe("a character map", () => {
  const file = JSON.parse(goldenFile("xlm-roberta-reranker"));
  const map = findMap(file.normalizer);
  const bytes = Buffer.from(map, "base64");
  const trie = bytes.readUInt32LE(0);
  const changed = (change: (copy: Buffer) => unknown) => {
    const copy = Buffer.from(bytes);
    change(copy);
    return characterMapFault(copy.toString("base64"));
  };

  it("of a real tokenizer is right", () => assert.equal(characterMapFault(map), undefined));

  it("whose table is cut is refused", () => {
    assert.equal(
      changed((copy) => copy.writeUInt32LE(trie + bytes.length, 0)),
      "states a wrong size of its table",
    );
    assert.equal(
      changed((copy) => copy.writeUInt32LE(trie - 1, 0)),
      "states a wrong size of its table",
    );
    assert.equal(changed((copy) => copy.writeUInt32LE(256, 0)) === undefined, false);
  });

  it("whose root leads out of it is refused", () => {
    assert.equal(
      changed((copy) => copy.writeUInt32LE(0x7ffffc00, 4)),
      "leads out of its table",
    );
  });

  it("whose texts are not UTF-8 is refused", () => {
    assert.equal(
      changed((copy) => copy.writeUInt8(0xff, 4 + trie)),
      "maps to texts that are not UTF-8",
    );
  });

  it("whose value leads out of the texts is refused", () => {
    // units with the highest bit are values
    const values = Array.from({ length: trie / 4 }, (_, at) => 4 + 4 * at).filter(
      (at) => bytes.readUInt32LE(at) >>> 31 === 1,
    );
    assert.ok(values.length > 0);
    for (const at of values)
      assert.equal(
        changed((copy) => copy.writeUInt32LE(0x80ffffff, at)),
        "leads out of its table",
      );
  });
});

function findMap(normalizer: unknown): string {
  if (typeof normalizer !== "object" || normalizer === null) return "";
  if ("precompiled_charsmap" in normalizer) return String(normalizer.precompiled_charsmap);
  return (
    Object.values(normalizer)
      .flat()
      .map(findMap)
      .find((map) => map !== "") ?? ""
  );
}

function invalid(message: RegExp) {
  return (error: unknown) =>
    error instanceof ServiceError && error.kind === "INVALID_MODEL" && message.test(error.message);
}
