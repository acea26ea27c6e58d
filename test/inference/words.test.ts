import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../support/package-root.ts";
import { BY_PATTERNS, EMBEDDED, encodeAll, IN_RUNS } from "./long-texts.ts";

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

describe("added tokens", () => {
  it("are text in a text, also with BERT's own rules", async () => {
    for (const name of ["[SEP]", "[CLS]", "[UNK]", "[MASK]", "[PAD]"]) {
      const parts = [name, name.toLowerCase(), `a ${name}b`, `a ${name.toLowerCase()}b`].map((text) => {
        return { role: "state" as const, text, maxTokens: 100 };
      });
      const [upper, lower, inside, insideLower] = await encodeAll(parts, 20, IN_RUNS);
      assert.deepEqual(upper, lower);
      assert.deepEqual(inside, insideLower);
      assert.ok(upper instanceof Int32Array && upper.length >= 5);
    }
  });
});
