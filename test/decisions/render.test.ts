import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { renderState, renderText, renderWithin } from "../../src/decisions/render.ts";
import { parseJson } from "../../src/json/read.ts";

interface Vectors {
  value: { json: string; text: string }[];
  state: { json: string; text: string }[];
}
const vectors: Vectors = JSON.parse(
  readFileSync(new URL("../vectors/rendering.json", import.meta.url), "utf8"),
);

describe("renderText", () => {
  for (const { json, text } of vectors.value) {
    it(`renders ${json} as training did`, () => assert.equal(renderText(parseJson(json)), text));
  }

  it("keeps all digits of an integer", () =>
    assert.equal(renderText(parseJson("9".repeat(5000))), "9".repeat(5000)));
});

describe("renderWithin", () => {
  const cases: [name: string, json: string, maxRows: number, fits: boolean][] = [
    ["items at the bound", "[1,2,3]", 3, true],
    ["items one past it", "[1,2,3]", 2, false],
    ["nested fields count with their parents", '{"a":{"b":1}}', 1, false],
    ["a string is no row", '"a\\nb"', 0, true],
  ];
  for (const [name, json, maxRows, fits] of cases) {
    it(name, () =>
      assert.equal(renderWithin(parseJson(json), maxRows), fits ? renderText(parseJson(json)) : undefined),
    );
  }

  it("stops early where indentation would multiply a body by a hundred", () => {
    const json = `${"[".repeat(99)}${"1,".repeat(1_000_000)}1${"]".repeat(99)}`;
    assert.equal(renderWithin(parseJson(json), 2048), undefined);
  });
});

describe("renderState", () => {
  for (const { json, text } of vectors.state) {
    it(`renders the state ${json} as training did`, async () =>
      assert.equal(await renderState(parseJson(json)), text));
  }

  const strings: [name: string, state: string, want: string][] = [
    ["white space around JSON is no obstacle", "\n\t [1,2]\r\n ", "- 1\n- 2"],
    ["a name given twice leaves it a text", ' {"a":1,"a":2} ', '{"a":1,"a":2}'],
    ["NaN leaves it a text", "[NaN]", "[NaN]"],
    ["a float over the range leaves it a text", "[1e400]", "[1e400]"],
    [
      "101 levels leave it a text",
      `${"[".repeat(101)}${"]".repeat(101)}`,
      `${"[".repeat(101)}${"]".repeat(101)}`,
    ],
    ["a no-break space in front leaves it a text", "\u00a0[1]", "[1]"],
    ["JSON in a string in a string stays a text", '"[1]"', '"[1]"'],
    ["a string inside a JSON string is not parsed again", '["[1]"]', "- [1]"],
  ];
  for (const [name, state, want] of strings)
    it(name, async () => assert.equal(await renderState(state), want));

  it("100 levels in a string are read", async () => {
    assert.equal(
      await renderState(`${"[".repeat(100)}${"]".repeat(100)}`),
      await renderState(parseJson(`${"[".repeat(100)}${"]".repeat(100)}`)),
    );
  });
});
