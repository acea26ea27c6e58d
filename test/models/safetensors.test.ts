import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readSafetensors } from "../../src/models/safetensors.ts";

function file(header: unknown, data = new Uint8Array()): Uint8Array {
  const text = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}
const tensor = (dtype: string, shape: number[], offsets: number[]) => ({
  w: { dtype, shape, data_offsets: offsets },
});

describe("a safetensors file", () => {
  it("gives its tensors", () => {
    const bytes = file(
      { __metadata__: { a: "b" }, ...tensor("F16", [1, 2], [0, 4]) },
      Uint8Array.of(1, 2, 3, 4),
    );
    const tensors = readSafetensors(bytes);
    assert.deepEqual([...tensors.keys()], ["w"]);
    assert.deepEqual([...(tensors.get("w")?.bytes ?? [])], [1, 2, 3, 4]);
  });

  const bad: { name: string; bytes: Uint8Array; says: RegExp }[] = [
    { name: "shorter than its length field", bytes: Uint8Array.of(1, 2), says: /shorter/ },
    { name: "cut off in its header", bytes: file({}).subarray(0, 9), says: /cut off/ },
    { name: "with a header that is not JSON", bytes: file("{"), says: /not JSON/ },
    { name: "with a header that is an array", bytes: file([]), says: /not a JSON object/ },
    { name: "with a tensor past its end", bytes: file(tensor("F16", [2], [0, 4])), says: /tensor w/ },
    {
      name: "with a tensor of another size",
      bytes: file(tensor("F16", [3], [0, 4]), new Uint8Array(4)),
      says: /tensor w/,
    },
    {
      name: "with a negative offset",
      bytes: file(tensor("F16", [2], [-4, 0]), new Uint8Array(4)),
      says: /tensor w/,
    },
    {
      name: "of a type that is not read",
      bytes: file(tensor("I8", [4], [0, 4]), new Uint8Array(4)),
      says: /I8/,
    },
  ];
  for (const { name, bytes, says } of bad) {
    it(`${name} is refused`, () => {
      assert.throws(() => readSafetensors(bytes), {
        name: "ServiceError",
        kind: "INVALID_MODEL",
        message: says,
      });
    });
  }
});
