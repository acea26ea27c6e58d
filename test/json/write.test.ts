import assert from "node:assert/strict";
import { it } from "node:test";
import { writeJson } from "../../src/json/write.ts";
import { parseJson } from "./parse-json.ts";

const cases: [name: string, value: unknown, want: string][] = [
  [
    "a Map keeps its order, also of integer-like names",
    new Map([
      ["10", 1],
      ["2", 2],
    ]),
    '{"10":1,"2":2}',
  ],
  ["a Map in an object in an array", [{ a: new Map([["b", null]]) }], '[{"a":{"b":null}}]'],
  ["__proto__ is a name", new Map([["__proto__", true]]), '{"__proto__":true}'],
  ["members that are undefined are left out", { a: undefined, b: 1 }, '{"b":1}'],
  [
    "a number comes out in its shortest form",
    [0.1 + 0.2, 1e21, 5e-324],
    "[0.30000000000000004,1e+21,5e-324]",
  ],
  ["a float32 comes out with its exact value", Math.fround(0.1), "0.10000000149011612"],
  ["strings are escaped", 'a"\n\u2028é', '"a\\"\\n\u2028é"'],
  ["a value as read", parseJson('{"9":[12345678901234567890,1.0]}'), '{"9":[12345678901234567890,1.0]}'],
];
for (const [name, value, want] of cases) it(name, () => assert.equal(writeJson(value), want));

for (const value of [Number.NaN, Infinity, undefined, () => 1, 1n]) {
  it(`${typeof value} ${String(value)} has no JSON form`, () =>
    assert.throws(() => writeJson([value]), TypeError));
}
