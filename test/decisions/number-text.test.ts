import assert from "node:assert/strict";
import { it } from "node:test";
import { numberText } from "../../src/decisions/texts.ts";
import { JsonNumber } from "../../src/json/value.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** What Python 3.11 prints for `json.loads(text)`. */
const cases: [text: string, want: string][] = [
  ["0", "0"],
  ["-0", "0"],
  ["-12", "-12"],
  ["1E2", "100.0"],
  ["0.0", "0.0"],
  ["-0.0", "-0.0"],
  ["-0e5", "-0.0"],
  ["0e0", "0.0"],
  ["1.50", "1.5"],
  ["-2.5", "-2.5"],
  ["0.1", "0.1"],
  ["0.0001", "0.0001"],
  ["0.00001", "1e-05"],
  ["-0.000012345", "-1.2345e-05"],
  ["1e15", "1000000000000000.0"],
  ["9999999999999998.0", "9999999999999998.0"],
  ["1e16", "1e+16"],
  ["1.5e16", "1.5e+16"],
  ["1e21", "1e+21"],
  ["1e22", "1e+22"],
  ["1e23", "1e+23"],
  ["123456789012345680.0", "1.2345678901234568e+17"],
  ["0.30000000000000004", "0.30000000000000004"],
  ["1.7976931348623157e308", "1.7976931348623157e+308"],
  ["5e-324", "5e-324"],
  ["2e-324", "0.0"],
  ["1e-400", "0.0"],
  ["2.2250738585072014e-308", "2.2250738585072014e-308"],
  ["9007199254740993.0", "9007199254740992.0"],
  ["4.35", "4.35"],
  ["1e-7", "1e-07"],
  ["123456.789e3", "123456789.0"],
  ["1.0e+100", "1e+100"],
];
for (const [text, want] of cases) {
  it(`${text} is written ${want}`, () => assert.equal(numberText(new JsonNumber(text)), want));
}

it("a float's text reads back as the same float", () => {
  const random = seededRandom(3).next;
  const bits = new DataView(new ArrayBuffer(8));
  for (let round = 0; round < 5000; round++) {
    bits.setUint32(0, random() * 2 ** 32);
    bits.setUint32(4, random() * 2 ** 32);
    const value = bits.getFloat64(0);
    if (!Number.isFinite(value)) continue;
    assert.equal(Number(numberText(new JsonNumber(value.toExponential()))), value);
  }
});
