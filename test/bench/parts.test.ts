import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PARTS, type Part } from "../../bench/options.ts";
import { measurableParts } from "../../bench/parts.ts";
import type { Manifest } from "../../src/models/package/manifest.ts";

/** The members of a manifest that are read. */
const model = (type: string) => ({ id: "acme/m@1", architecture: { type } }) as unknown as Manifest;
const EMBEDDED = model("bert-token-tree");
const OTHER = model("gemma3-text-joint");
const asked = (parts: readonly Part[], more: { url?: string; isProfiled?: boolean } = {}) => ({
  parts,
  url: undefined,
  isProfiled: false,
  ...more,
});

describe("the parts that can be measured", () => {
  it("are all that were asked for, of a model like the embedded one", () => {
    assert.deepEqual(measurableParts(asked(PARTS, { isProfiled: true }), EMBEDDED), {
      parts: PARTS,
      notes: [],
    });
    assert.deepEqual(measurableParts(asked(["memory"]), OTHER), { parts: ["memory"], notes: [] });
  });

  it("are HTTP alone of a server that runs already", () => {
    assert.deepEqual(measurableParts(asked(PARTS, { url: "http://x" }), OTHER), {
      parts: ["http"],
      notes: [],
    });
  });

  it("are without the engine for another architecture, which is noted", () => {
    const { parts, notes } = measurableParts(asked(PARTS), OTHER);
    assert.deepEqual(parts, ["http", "memory"]);
    assert.equal(notes.length, 1);
    assert.match(notes[0] ?? "", /without engine: .* bert-token-tree, and acme\/m@1 is gemma3-text-joint/);
  });

  for (const { name, options } of [
    { name: "nothing else was", options: asked(["engine"]) },
    { name: "a profile was", options: asked(PARTS, { isProfiled: true }) },
  ]) {
    it(`are none of another architecture when ${name} asked for`, () =>
      assert.throws(() => measurableParts(options, OTHER), /use --part http --part memory/));
  }
});
