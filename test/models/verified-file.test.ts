import assert from "node:assert/strict";
import { open } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { VerifiedFile } from "../../src/models/package/verified-file.ts";
import { ChangedPackage } from "../support/changed-package.ts";
import { embeddedModel } from "../support/package-root.ts";

describe("a file of a package that is read piece by piece", () => {
  const name = "model.onnx";
  /** Three blocks and some bytes. */
  const bytes = Buffer.from(Array.from({ length: 800_001 }, (_, i) => (i * 31) % 251));

  async function opened(): Promise<{ changed: ChangedPackage; file: VerifiedFile }> {
    const changed = await ChangedPackage.of(embeddedModel);
    await changed.change(name, () => bytes);
    const architecture = { type: "onnx-joint-pairs", max_tokens: 8, pad_id: 0, bos_id: 2 };
    const modelPackage = await changed.open([name, "tokenizer.json"], { architecture });
    return { changed, file: await VerifiedFile.open(modelPackage, name) };
  }

  it("gives any part of its bytes", async () => {
    const { changed, file } = await opened();
    assert.equal(file.byteLength, bytes.length);
    for (const [begin, end] of [
      [0, 8],
      [262_140, 262_150],
      [262_144, 524_288],
      [5, 800_001],
      [800_000, 800_001],
      [7, 7],
    ] as const) {
      assert.deepEqual(Buffer.from(file.read(begin, end)), bytes.subarray(begin, end));
    }
    file.close();
    await changed.remove();
  });

  it("gives no byte of a piece that has changed since it was opened", async () => {
    const { changed, file } = await opened();
    const handle = await open(path.join(changed.folder, name), "r+");
    await handle.write(Uint8Array.of(255), 0, 1, 300_000);
    await handle.close();
    assert.equal(file.read(0, 262_144).length, 262_144, "another piece");
    assert.throws(() => file.read(262_144, 262_145), { kind: "INVALID_MODEL", message: /model\.onnx/ });
    await handle.close().catch(() => {});
    file.close();
    await changed.remove();
  });
});
