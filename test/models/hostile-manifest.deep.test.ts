import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { examinePackage } from "../../src/models/inspect/package-faults.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { safetensors, tinyWeights, writeTinyPackage } from "./tiny-package.ts";

const SEED = 20;

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), "manifest-"));
  folder = path.join(parent, "package");
  await writeTinyPackage(folder);
});
afterEach(() => rm(parent, { recursive: true }));

describe("weights that were damaged in any way", () => {
  /** One of the ways, by the numbers. */
  function damaged(file: Buffer, below: (most: number) => number): Buffer {
    const copy = Buffer.from(file);
    switch (below(5)) {
      case 0:
        return copy.subarray(0, below(copy.length));
      case 1: // the header's length
        copy.writeBigUInt64LE((BigInt(below(2 ** 30)) << BigInt(below(34))) | BigInt(below(256)), 0);
        return copy;
      case 2: // a digit of a shape or of an offset
        for (let at = 8 + below(200); at < copy.length; at += 1)
          if ((copy[at] ?? 0) >= 48 && (copy[at] ?? 0) <= 57) {
            copy[at] = 48 + (((copy[at] ?? 0) - 47) % 10);
            break;
          }
        return copy;
      case 3:
        return Buffer.concat([copy, Buffer.alloc(1 + below(100))]);
      default: // a number that is none
        copy.writeUInt16LE(0x7c00 + below(0x400), copy.length - 2 * (1 + below(1000)));
        return copy;
    }
  }

  it("are refused by name, without a crash", async () => {
    const { below } = seededRandom(SEED);
    const { entries, data } = tinyWeights();
    const whole = safetensors(entries, data);
    for (let made = 0; made < 300; made += 1) {
      const bytes = damaged(whole, below);
      if (bytes.equals(whole)) continue;
      await rm(folder, { recursive: true });
      await mkdir(folder);
      await writeTinyPackage(folder, { "model.safetensors": bytes }); // their digest is right
      const { faults } = await examinePackage(folder);
      assert.ok(faults.length > 0, `case ${made} has no fault`);
      for (const { file, message } of faults) {
        assert.equal(file, "model.safetensors", message);
        assert.match(message, /^model\.safetensors /);
      }
    }
    assert.deepEqual((await readdir(parent)).sort(), ["package"]);
    assert.ok((await readFile(path.join(folder, "manifest.json"))).length > 0);
  });
});
