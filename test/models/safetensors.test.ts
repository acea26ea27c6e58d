import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { safetensorsFaults } from "../../src/models/inspect/weights-faults.ts";
import { bytesSource, locateTensors } from "../../src/models/weights/safetensors.ts";

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
  let folder: string;
  let onDisk: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "safetensors-"));
    onDisk = path.join(folder, "model.safetensors");
  });
  after(() => rm(folder, { recursive: true }));

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

    it(`${name} is told in the same words by who looks for faults`, async () => {
      await writeFile(onDisk, bytes);
      const [fault = ""] = await safetensorsFaults(onDisk);
      // of tensors past the end it tells once how many bytes are missing
      if (name !== "with a tensor past its end") assert.match(`model.safetensors ${fault}.`, says);
      else assert.equal(fault, "is truncated: 4 bytes are missing at its end");
    });
  }

  it("has bytes that many tensors claim read once, and those between claimed ones told", async () => {
    const inside = { dtype: "F32", shape: [1], data_offsets: [4, 8] };
    const header = { ...tensor("F32", [4], [0, 16]), inside, last: { ...inside, data_offsets: [20, 24] } };
    const halves = new Uint16Array(12);
    halves[3] = 0x7f80; // of w and of what lies inside it
    await writeFile(onDisk, file(header, new Uint8Array(halves.buffer)));
    assert.deepEqual(await safetensorsFaults(onDisk), [
      "has a tensor inside that overlaps another tensor",
      "has 4 unused bytes before the tensor last",
      "has a number in the tensor w that is not finite",
    ]);
  });

  for (const [type, number] of [
    ["F16", [0x7c00]],
    ["BF16", [0xff80]],
    ["F32", [0x0001, 0x7f80]],
  ] as const) {
    it(`with a number of type ${type} that is not finite is told`, async () => {
      const halves = Uint16Array.of(...number.map(() => 0x7b7f), ...number);
      const entry = tensor(type, [2], [0, halves.byteLength]);
      await writeFile(onDisk, file(entry, new Uint8Array(halves.buffer)));
      assert.deepEqual(await safetensorsFaults(onDisk), ["has a number in the tensor w that is not finite"]);
      halves.fill(0x7b7f);
      await writeFile(onDisk, file(entry, new Uint8Array(halves.buffer)));
      assert.deepEqual(await safetensorsFaults(onDisk), []);
    });
  }
});
