import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { WordPieceEncoder } from "../../src/inference/tokens/word-pieces.ts";
import { readWordRules } from "../../src/inference/tokens/word-rules.ts";
import { packageRoot } from "../support/package-root.ts";
import { BY_PATTERNS, EMBEDDED, encodeAll, json } from "./long-texts.ts";

interface Pairs {
  readonly differ: readonly [string, string][];
  readonly same: readonly [string, string][];
  readonly unknown: readonly [string, string[]][];
}

const folder = path.join(packageRoot, "test", "golden", "words");
const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
const pairs: Pairs = JSON.parse(read("pairs.json"));
const golden: Record<string, string[]> = JSON.parse(read("tokens.json"));
const vocabulary: Record<string, number> = JSON.parse(read("tokenizer.json")).model.vocab;

/** Whose vocabulary has a piece for every character of the pairs. */
const KINDS = [BY_PATTERNS, EMBEDDED];

async function idsOf(texts: readonly string[], kind = BY_PATTERNS): Promise<number[][]> {
  const parts = texts.map((text) => ({ role: "candidate" as const, text, maxTokens: 100 }));
  const encoded = await encodeAll(parts, 20, kind);
  return encoded.map((tokens) => (tokens instanceof Int32Array ? [...tokens].slice(1, -1) : []));
}

describe("the rules of words", () => {
  for (const kind of KINDS) {
    it(`keep texts apart that differ in meaning (${kind.name})`, async () => {
      for (const pair of pairs.differ) {
        const [left, right] = await idsOf(pair, kind);
        assert.notDeepEqual(left, right, JSON.stringify(pair));
      }
    });

    it(`read texts alike that differ in spelling only (${kind.name})`, async () => {
      for (const pair of pairs.same) {
        const [left, right] = await idsOf(pair, kind);
        assert.deepEqual(left, right, JSON.stringify(pair));
      }
    });
  }

  it("leave the known part of a word beside an unknown character", async () => {
    for (const [text, tokens] of pairs.unknown) {
      const [ids] = await idsOf([text]);
      assert.deepEqual(
        ids,
        tokens.map((token) => vocabulary[token]),
        JSON.stringify(text),
      );
    }
  });

  it("give the same tokens as in training", async () => {
    for (const [text, tokens] of Object.entries(golden)) {
      const [ids] = await idsOf([text]);
      assert.deepEqual(
        ids,
        tokens.map((token) => vocabulary[token]),
        JSON.stringify(text),
      );
    }
  });

  it("have no place at the beginning of a text, where the library crashes", async () => {
    const characters = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code));
    const encoded = await encodeAll(
      characters.map((text) => ({ role: "candidate" as const, text, maxTokens: 100 })),
      20,
      BY_PATTERNS,
    );
    assert.equal(encoded.length, characters.length);
  });
});

interface Rules {
  normalizer: { normalizers: { type: string; pattern?: { Regex: string }; content?: string }[] };
  pre_tokenizer: { pretokenizers: { pattern: { Regex: string }; behavior: string; invert: boolean }[] };
  added_tokens: object[];
}

function changed(change: (rules: Rules) => void): string {
  const rules: Rules = JSON.parse(read("tokenizer.json"));
  change(rules);
  return JSON.stringify(rules);
}

const replaced = (Regex: string, content = "") =>
  changed(({ normalizer }) =>
    normalizer.normalizers.unshift({ type: "Replace", pattern: { Regex }, content }),
  );
const split = (at: number, Regex: string) =>
  changed(({ pre_tokenizer }) => {
    const [step] = pre_tokenizer.pretokenizers.splice(at, 1);
    assert.ok(step);
    pre_tokenizer.pretokenizers.splice(at, 0, { ...step, pattern: { Regex } });
  });

describe("a tokenizer.json with patterns", () => {
  it("is read", () => {
    assert.deepEqual(
      { ...readWordRules(JSON.parse(read("tokenizer.json"))), fewestTokens: 0 },
      { isCased: false, longestWord: 100, fewestTokens: 0 },
    );
    assert.ok(new WordPieceEncoder(replaced("[\\u0300-\\u0310]|(?<![иу])\\u0306|é{2}")));
  });

  it("is refused with patterns that could be slow, crash the library or join words", () => {
    const others = {
      "nested counts": replaced("(?:é+)+"),
      "two counts": replaced("é+ü+"),
      "any distance": replaced("é(?=.*ü)"),
      "a place at the beginning": replaced("(?=[²³])", "^"),
      "a backward range": replaced("[z-a]"),
      "no pattern": replaced("("),
      "plain texts": replaced("[,é]"),
      "joined words": split(0, "[\\u0020]+"),
      "no punctuation": split(1, "[a-zA-Z0-9!-/]{1,100}|[\\s\\S]"),
      "long words": split(1, "[a-zA-Z0-9]{1,200}|[\\s\\S]"),
      "a further step": changed(({ pre_tokenizer: { pretokenizers } }) =>
        pretokenizers.push(...pretokenizers),
      ),
      "no normalizer": changed(({ normalizer }) => normalizer.normalizers.splice(0)),
      "another normalizer": changed(({ normalizer }) => normalizer.normalizers.push({ type: "Prepend" })),
      "an inverted split": changed(({ pre_tokenizer }) => {
        for (const step of pre_tokenizer.pretokenizers) step.invert = true;
      }),
    };
    for (const [name, other] of Object.entries(others))
      assert.throws(() => new WordPieceEncoder(other), { kind: "INVALID_MODEL" }, name);
  });
});

describe("added tokens", () => {
  it("are text in a text, also with BERT's own rules", async () => {
    const encoder = new WordPieceEncoder(json);
    for (const name of ["[SEP]", "[CLS]", "[UNK]", "[MASK]", "[PAD]"]) {
      const parts = [name, name.toLowerCase(), `a ${name}b`, `a ${name.toLowerCase()}b`].map((text) => {
        return { role: "state" as const, text, maxTokens: 100 };
      });
      const [upper, lower, inside, insideLower] = await encoder.encodeParts(parts, {
        maxTooMany: 20,
        signal: new AbortController().signal,
      });
      assert.deepEqual(upper, lower);
      assert.deepEqual(inside, insideLower);
      assert.ok(upper instanceof Int32Array && upper.length >= 5);
    }
  });

  it("that are not special are refused", () => {
    const file = JSON.parse(json);
    const token = {
      id: 5,
      content: "refund",
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: true,
    };
    file.added_tokens = [{ ...token, special: false }];
    assert.throws(() => new WordPieceEncoder(JSON.stringify(file)), {
      kind: "INVALID_MODEL",
      message: /not special/,
    });
  });
});
