import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { numberText, renderText, stateValue, strip } from "../../src/decisions/texts.ts";
import { JsonNumber, type JsonValue } from "../../src/json/value.ts";
import { parseJson, runAtOnce } from "../json/parse-json.ts";
import { packageRoot } from "../support/package-root.ts";
import { seededRandom } from "../support/seeded-random.ts";

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

/** Numbers, and what Python 3.11 prints for `json.loads` of each. */
const NUMBERS = `
  0=0  -0=0  -12=-12  1E2=100.0
  0.0=0.0  -0.0=-0.0  -0e5=-0.0  0e0=0.0
  1.50=1.5  -2.5=-2.5  0.1=0.1  0.0001=0.0001
  0.00001=1e-05  -0.000012345=-1.2345e-05  1e15=1000000000000000.0  9999999999999998.0=9999999999999998.0
  1e16=1e+16  1.5e16=1.5e+16  1e21=1e+21  1e22=1e+22
  1e23=1e+23  123456789012345680.0=1.2345678901234568e+17  0.30000000000000004=0.30000000000000004
  1.7976931348623157e308=1.7976931348623157e+308
  5e-324=5e-324  2e-324=0.0  1e-400=0.0  2.2250738585072014e-308=2.2250738585072014e-308
  9007199254740993.0=9007199254740992.0  4.35=4.35  1e-7=1e-07  123456.789e3=123456789.0
  1.0e+100=1e+100`;

describe("a number", () => {
  for (const pair of NUMBERS.trim().split(/\s+/)) {
    const [text = "", want] = pair.split("=");
    it(`is written as by Python: ${pair}`, () => assert.equal(numberText(new JsonNumber(text)), want));
  }

  it("with a fraction reads back as the same float", () => {
    const { next } = seededRandom(3);
    for (let round = 0; round < 5000; round++) {
      const value = (next() - 0.5) * 10 ** ((next() - 0.5) * 600);
      assert.equal(Number(numberText(new JsonNumber(value.toExponential()))), value);
    }
  });
});

/** Every character for which Python 3.11 says `chr(i).isspace()`. */
const PYTHON_SPACES = [
  0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003,
  0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
];

describe("strip", () => {
  it("strips Python's white space and nothing else", () => {
    const stripped = Array.from({ length: 0x10000 }, (_, code) => code).filter((code) => {
      const space = String.fromCharCode(code);
      return strip(`${space}a${space}`) === "a";
    });
    assert.deepEqual(stripped, PYTHON_SPACES);
  });

  it("keeps white space inside, and leaves nothing of white space alone", () => {
    assert.deepEqual([strip(" a \n b "), strip(" \u2003\u001c"), strip("")], ["a \n b", "", ""]);
  });
});
