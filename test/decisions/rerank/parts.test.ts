import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TextReader } from "../../../src/decisions/request.ts";
import { cutText, partsOf } from "../../../src/decisions/rerank/parts.ts";
import { readLetters } from "../../support/letter-tokens.ts";

/** As a tokenizer that makes a token of each byte. */
const bytes: TextReader = {
  readTexts: async (texts) =>
    texts.map((text) => {
      const ends = [...text].flatMap((character, at) =>
        Array.from({ length: Buffer.byteLength(character) }, () => at + 1),
      );
      return { count: ends.length, ends: () => ends };
    }),
};
const letters: TextReader = { readTexts: readLetters };
const never = new AbortController().signal;
const parts = (text: string, maxTokens: number) => partsOf(text, maxTokens, letters, never);
const cut = (text: string, tokens: number, keepsEnd = false) =>
  cutText(text, { tokens, keepsEnd }, letters, never);

describe("parts of a text", () => {
  it("are the text itself where it fits", async () => {
    for (const text of ["", "a", "one two", "x".repeat(20)]) assert.deepEqual(await parts(text, 20), [text]);
  });

  it("are the text when they are joined, none with too many tokens", async () => {
    const text = "The quick brown fox jumps over the lazy dog and runs away. ".repeat(50);
    for (const maxTokens of [1, 7, 10, 64, 2_949]) {
      const all = await parts(text, maxTokens);
      assert.equal(all.join(""), text);
      assert.ok(all.every((part) => part.length <= maxTokens && part.length > 0));
    }
  });

  it("end at white space where there is some near the end, else within a word", async () => {
    assert.deepEqual(await parts("aaa bbb ccc ddd", 8), ["aaa bbb ", "ccc ddd"]);
    assert.deepEqual(await parts("aaa bbbbbbbbbbbb", 8), ["aaa bbbb", "bbbbbbbb"]);
  });

  it("never split a character that takes two code units", async () => {
    const all = await parts("😀".repeat(40), 3);
    assert.equal(all.join(""), "😀".repeat(40));
    assert.ok(all.every((part) => !/^[\udc00-\udfff]/.test(part) && [...part].length <= 3));
  });

  it("never have too many tokens where a character has several", async () => {
    const text = "h\u00e9\u6f22\u{1f600}".repeat(60);
    for (const maxTokens of [4, 5, 6, 7, 64]) {
      const all = await partsOf(text, maxTokens, bytes, never);
      assert.equal(all.join(""), text);
      assert.ok(all.every((part) => !/\p{Surrogate}/u.test(part) && Buffer.byteLength(part) <= maxTokens));
    }
    assert.deepEqual(await partsOf("\u{1f600}\u{1f601}", 3, bytes, never), ["\u{1f600}", "\u{1f601}"]);
  });

  it("are no longer made once the caller has left", async () => {
    const gone = AbortSignal.abort(new Error("gone"));
    await assert.rejects(partsOf("a b c".repeat(100), 8, letters, gone), /gone/);
  });
});

describe("a cut text", () => {
  it("has exactly the tokens that are wanted, from either end", async () => {
    const text = "abc def ghi ".repeat(200);
    for (const tokens of [1, 5, 64, 1_000, 2_399]) {
      assert.equal(await cut(text, tokens), text.slice(0, tokens));
      assert.equal(await cut(text, tokens, true), text.slice(-tokens));
    }
  });

  it("is the text itself where it has no more", async () => {
    for (const tokens of [12, 13, 4_096]) {
      assert.equal(await cut("abc def ghi ", tokens), "abc def ghi ");
      assert.equal(await cut("abc def ghi ", tokens, true), "abc def ghi ");
    }
  });

  it("has no character of which only some tokens are wanted, at either end", async () => {
    const text = "\u00e9\u6f22".repeat(40);
    for (const [tokens, characters] of [
      [5, 2],
      [6, 2],
      [7, 3],
      [8, 3],
      [10, 4],
    ] as const) {
      const start = await cutText(text, { tokens, keepsEnd: false }, bytes, never);
      assert.equal(start, [...text].slice(0, characters).join(""));
      const end = await cutText(text, { tokens, keepsEnd: true }, bytes, never);
      assert.ok(text.endsWith(end) && Buffer.byteLength(end) <= tokens);
    }
  });

  it("counts characters, not code units", async () => {
    assert.equal(await cut("😀😁😂😃", 2), "😀😁");
    assert.equal(await cut("😀😁😂😃", 2, true), "😂😃");
  });
});
