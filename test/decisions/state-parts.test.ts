import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readStateParts } from "../../src/decisions/explain/state-parts.ts";
import type { JsonValue } from "../../src/json/value.ts";

const partsOf = async (state: JsonValue) =>
  (await readStateParts(state, 2048)).map(({ unit, text, without }) => [unit, text, without]);

describe("the parts of a state", () => {
  it("are the sentences of a text, each with what is left without it", async () => {
    assert.deepEqual(await partsOf("It came. Is it broken? Yes!"), [
      ["sentence", "It came.", "Is it broken? Yes!"],
      ["sentence", "Is it broken?", "It came. Yes!"],
      ["sentence", "Yes!", "It came. Is it broken?"],
    ]);
  });

  it("are the words of a single sentence", async () => {
    assert.deepEqual(await partsOf("Give it back"), [
      ["word", "Give", "it back"],
      ["word", "it", "Give back"],
      ["word", "back", "Give it"],
    ]);
  });

  it("are the members of an object, of texts with several sentences each sentence", async () => {
    const order = new Map<string, JsonValue>([
      ["2", true],
      ["note", "Late. Angry."],
      ["1", null],
    ]);
    assert.deepEqual(await partsOf(order), [
      ["field", "2: true", "note: Late. Angry.\n\n1:"],
      ["sentence", "Late.", "2: true\n\nnote: Angry.\n\n1:"],
      ["sentence", "Angry.", "2: true\n\nnote: Late. \n\n1:"],
      ["field", "1:", "2: true\n\nnote: Late. Angry."],
    ]);
  });

  it("are looked for below a single member, and in a text that holds JSON", async () => {
    assert.deepEqual(await partsOf('{"ticket": {"items": ["kettle", "cup"]}}'), [
      ["item", "- kettle", "ticket:\n  items:\n    - cup"],
      ["item", "- cup", "ticket:\n  items:\n    - kettle"],
    ]);
  });

  it("are none where nothing can be left out", async () => {
    for (const state of ["", "Word", 'no"thing'.slice(0, 2), true, null, [], ["one"], new Map([["a", "b"]])])
      assert.deepEqual(await partsOf(state), [], JSON.stringify(state));
  });

  it("are at most 32, neighbours together, and together the whole state", async () => {
    const words = Array.from({ length: 101 }, (_, at) => `word${at}`);
    const parts = await readStateParts(words.join(" "), 2048);
    assert.equal(parts.length, 32);
    assert.equal(parts.map(({ text }) => text).join(" "), words.join(" "));
    for (const { text, without } of parts)
      assert.deepEqual(
        words.filter((word) => !text.split(" ").includes(word)),
        without.split(" "),
      );
  });
});
