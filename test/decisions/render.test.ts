import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { renderText, stateValue } from "../../src/decisions/texts.ts";
import type { JsonValue } from "../../src/json/value.ts";
import { parseJson, runAtOnce } from "../json/parse-json.ts";
import { packageRoot } from "../support/package-root.ts";

interface Vectors {
  value: { json: string; text: string }[];
  state: { json: string; text: string }[];
}
const vectors: Vectors = JSON.parse(
  readFileSync(path.join(packageRoot, "test/vectors/rendering.json"), "utf8"),
);

const textOf = (value: JsonValue) => renderText(value, Infinity);
const stateText = (state: JsonValue) => textOf(runAtOnce(stateValue(state)));

describe("renderText", () => {
  for (const { json, text } of vectors.value) {
    it(`renders ${json} as training did`, () => assert.equal(textOf(parseJson(json)), text));
  }

  it("keeps all digits of an integer", () =>
    assert.equal(textOf(parseJson("9".repeat(5000))), "9".repeat(5000)));

  const cases: [name: string, json: string, maxRows: number, fits: boolean][] = [
    ["items at the bound", "[1,2,3]", 3, true],
    ["items one past it", "[1,2,3]", 2, false],
    ["nested fields count with their parents", '{"a":{"b":1}}', 1, false],
    ["a string is no row", '"a\\nb"', 0, true],
  ];
  for (const [name, json, maxRows, fits] of cases) {
    it(name, () =>
      assert.equal(renderText(parseJson(json), maxRows), fits ? textOf(parseJson(json)) : undefined),
    );
  }

  it("stops early where indentation would multiply a body by a hundred", () => {
    const json = `${"[".repeat(99)}${"1,".repeat(1_000_000)}1${"]".repeat(99)}`;
    assert.equal(renderText(parseJson(json), 2048), undefined);
  });
});

describe("a state", () => {
  for (const { json, text } of vectors.state) {
    it(`renders the state ${json} as training did`, () => assert.equal(stateText(parseJson(json)), text));
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
  for (const [name, state, want] of strings) it(name, () => assert.equal(stateText(state), want));

  it("100 levels in a string are read", () => {
    assert.equal(
      stateText(`${"[".repeat(100)}${"]".repeat(100)}`),
      stateText(parseJson(`${"[".repeat(100)}${"]".repeat(100)}`)),
    );
  });
});
