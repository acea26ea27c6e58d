import assert from "node:assert/strict";
import { test } from "node:test";
import { type PartEncoder, RecentParts, type TextPart } from "../../src/inference/tokens/part-plan.ts";

const signal = new AbortController().signal;
const OPTIONS = { maxTooMany: 2, signal };
const state = (text: string, maxTokens = 100): TextPart => ({ role: "state", text, maxTokens });
const question = (text: string): TextPart => ({ ...state(text), role: "question" });

/** A token for each character; remembers what it was asked for. */
class Letters implements PartEncoder {
  readonly asked: string[] = [];

  async encodeParts(parts: readonly TextPart[], { maxTooMany }: { readonly maxTooMany: number }) {
    const encoded = [];
    let tooMany = 0;
    for (const { role, text, maxTokens } of parts) {
      if (tooMany >= maxTooMany) break;
      this.asked.push(`${role} ${text}`);
      const isTooLong = text.length > maxTokens;
      tooMany += Number(isTooLong);
      const codes = Int32Array.from([role.length, ...text], (letter) => String(letter).charCodeAt(0));
      encoded.push(isTooLong ? { count: text.length, isExact: true } : codes);
    }
    return encoded;
  }
}

test("only new texts are encoded, and all keep their order", async () => {
  const letters = new Letters();
  const recent = new RecentParts(letters);
  const first = await recent.encodeParts([state("ab"), question("c")], OPTIONS);
  const second = await recent.encodeParts([state("d"), state("ab"), question("e"), question("c")], OPTIONS);
  assert.deepEqual(letters.asked, ["state ab", "question c", "state d", "question e"]);
  assert.deepEqual([second[1], second[3]], first);
  assert.deepEqual(
    second,
    await new Letters().encodeParts([state("d"), state("ab"), question("e"), question("c")], OPTIONS),
  );
});

test("the same text in another role has other tokens", async () => {
  const recent = new RecentParts(new Letters());
  const [asState] = await recent.encodeParts([state("ab")], OPTIONS);
  const [asQuestion] = await recent.encodeParts([question("ab")], OPTIONS);
  assert.notDeepEqual(asState, asQuestion);
});

test("a refused text is refused again, and parts behind too many of these are left out", async () => {
  const letters = new Letters();
  const recent = new RecentParts(letters);
  await recent.encodeParts([state("e")], OPTIONS);
  const parts = [state("abc", 2), state("e"), state("abcd", 2), state("e"), state("f"), state("e")];
  for (let time = 0; time < 2; time++) {
    const encoded = await recent.encodeParts(parts, OPTIONS);
    assert.deepEqual(
      encoded.map((tokens) => (tokens instanceof Int32Array ? tokens.length : tokens.count)),
      [3, 2, 4, 2],
    );
  }
});

test("a known text that is too long for its place now is refused", async () => {
  const recent = new RecentParts(new Letters());
  await recent.encodeParts([state("abc")], OPTIONS);
  assert.deepEqual(await recent.encodeParts([state("abc", 2)], OPTIONS), [{ count: 3, isExact: true }]);
});

test("texts after very long ones are encoded each time", async () => {
  const letters = new Letters();
  const recent = new RecentParts(letters);
  const parts = [state("short"), state("a".repeat(131_072), 1), state("behind")];
  for (let time = 0; time < 2; time++) await recent.encodeParts(parts, OPTIONS);
  assert.deepEqual(
    letters.asked.map((asked) => asked.slice(0, 12)),
    ["state short", "state aaaaaa", "state behind", "state aaaaaa", "state behind"],
  );
});

test("texts from long ago are encoded again", async () => {
  const letters = new Letters();
  const recent = new RecentParts(letters);
  await recent.encodeParts([state("first")], OPTIONS);
  for (let request = 0; request < 30; request++) {
    const others = Array.from({ length: 1_000 }, (_, i) => state(`text ${1_000 * request + i}`));
    await recent.encodeParts(others, OPTIONS);
  }
  letters.asked.length = 0;
  await recent.encodeParts([state("first"), state("text 29999")], OPTIONS);
  assert.deepEqual(letters.asked, ["state first"]);
});

test("a caller that has disconnected gets CANCELLED, even if all its scores are cached", async () => {
  const recent = new RecentParts(new Letters());
  await recent.encodeParts([state("a")], OPTIONS);
  const left = AbortSignal.abort(new Error("gone"));
  await assert.rejects(recent.encodeParts([state("a")], { maxTooMany: 2, signal: left }), /gone/);
});
