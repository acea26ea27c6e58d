import assert from "node:assert/strict";
import { it } from "node:test";
import { float16ToFloat32 } from "../../src/onnx/file/float16.ts";

// IEEE 754 binary16: sign, 5 bits exponent, 10 bits fraction
const cases: { name: string; bits: number; value: number }[] = [
  { name: "zero", bits: 0x0000, value: 0 },
  { name: "minus zero", bits: 0x8000, value: -0 },
  { name: "one", bits: 0x3c00, value: 1 },
  { name: "minus two", bits: 0xc000, value: -2 },
  { name: "a third, rounded", bits: 0x3555, value: 0.333251953125 },
  { name: "the largest", bits: 0x7bff, value: 65504 },
  { name: "the smallest normal", bits: 0x0400, value: 2 ** -14 },
  { name: "the smallest subnormal", bits: 0x0001, value: 2 ** -24 },
  { name: "infinity", bits: 0x7c00, value: Number.POSITIVE_INFINITY },
  { name: "not a number", bits: 0x7e00, value: Number.NaN },
];
for (const { name, bits, value } of cases) {
  it(`float16 ${name} becomes the same float32`, () => {
    const [found] = float16ToFloat32(Uint16Array.of(bits));
    assert.ok(Object.is(found, value), `${found}`);
  });
}
