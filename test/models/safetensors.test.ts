import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesSource, locateTensors } from "../../src/models/weights/safetensors.ts";
import { Tensors } from "../../src/models/weights/tensors.ts";

function file(header: unknown, data = new Uint8Array()): Uint8Array {
  const text = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}
const locate = (bytes: Uint8Array) => locateTensors(bytesSource(bytes, "model.safetensors"));
const tensor = (dtype: string, shape: number[], offsets: number[]) => ({
  w: { dtype, shape, data_offsets: offsets },
});

describe("a safetensors file", () => {
  it("gives its tensors", () => {
    const bytes = file(
      { __metadata__: { a: "b" }, ...tensor("F16", [1, 2], [0, 4]) },
      Uint8Array.of(1, 2, 3, 4),
    );
    const tensors = locate(bytes);
    assert.deepEqual([...tensors.keys()], ["w"]);
    const { begin, end } = tensors.get("w") ?? {};
    assert.deepEqual([...bytes.subarray(begin, end)], [1, 2, 3, 4]);
  });

  const bad: readonly (readonly [string, Uint8Array, RegExp])[] = [
    [
      "shorter than its length field",
      Uint8Array.of(1, 2),
      /^model\.safetensors is truncated: it has 2 bytes\.$/,
    ],
    ["that is empty", new Uint8Array(), /is truncated: it has 0 bytes/],
    [
      "truncated in its header",
      file({}).subarray(0, 9),
      /is truncated in its header: it has 9 of at least 10 bytes/,
    ],
    [
      "with a header that is longer than any may be",
      Uint8Array.of(1, 0xe1, 0xf5, 5, 0, 0, 0, 0),
      /has a header of 100000001 bytes/,
    ],
    ["with a header that is not JSON", file("{"), /not JSON/],
    ["with a header that is an array", file([]), /not a JSON object/],
    ["with a tensor past its end", file(tensor("F16", [2], [0, 4])), /has a tensor w beyond its end/],
    [
      "with bytes after its tensors",
      file(tensor("F16", [2], [0, 4]), new Uint8Array(7)),
      /has 3 extra bytes/,
    ],
    ["with an entry that is no object", file({ w: 1 }), /describes the tensor w by a value that is not/],
    [
      "with a tensor of another size",
      file(tensor("F16", [3], [0, 4]), new Uint8Array(4)),
      /has 4 bytes for the tensor w of shape \[3\] in F16, expected 6/,
    ],
    [
      "with a negative offset",
      file(tensor("F16", [2], [-4, 0]), new Uint8Array(4)),
      /describes the tensor w without a valid dtype, shape and data_offsets/,
    ],
    [
      "with three offsets",
      file(tensor("F16", [2], [0, 4, 4]), new Uint8Array(4)),
      /describes the tensor w without a valid/,
    ],
    [
      "of a type that is not read",
      file(tensor("U8", [4], [0, 4]), new Uint8Array(4)),
      /has the tensor w as U8, expected F16, BF16, F32 or I8/,
    ],
  ];
  for (const [name, bytes, says] of bad) {
    it(`${name} is refused`, () => {
      assert.throws(() => locate(bytes), {
        name: "ServiceError",
        kind: "INVALID_MODEL",
        message: says,
      });
    });
  }

  for (const [type, number] of [
    ["F16", [0x7c00]],
    ["BF16", [0xff80]],
    ["F32", [0x0001, 0x7f80]],
  ] as const) {
    it(`with a number of type ${type} that is not finite is refused`, () => {
      const halves = Uint16Array.of(...number.map(() => 0x7b7f), ...number);
      const entry = tensor(type, [2], [0, halves.byteLength]);
      const read = () => {
        const bytes = file(entry, new Uint8Array(halves.buffer));
        return new Tensors(bytesSource(bytes, "model.safetensors")).float32("w", [2]);
      };
      assert.throws(read, { kind: "INVALID_MODEL", message: /has a number in w that is not finite/ });
      halves.fill(0x7b7f);
      assert.equal(read().length, 2);
    });
  }
});
