import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { ContentCoding } from "../../src/contract/bodies/body.ts";
import { decodeBody, WORKING_BYTES } from "../../src/contract/bodies/decoding.ts";
import { ServiceError } from "../../src/errors.ts";

const TEXT = JSON.stringify({
  state: "I was charged twice for one order. ".repeat(40),
  questions: { angry: { type: "noul", instructions: "The customer is angry." } },
})
  .replace(/":/g, '": ')
  .replace(/,"/g, ', "');

/** TEXT by the reference library (python-zstandard 0.25.0), level 3: with its size; and without it, with a checksum. */
const SIZED =
  "KLUv/WDZBF0DAJIGFRiQN23dW5HI/u+ulLpREnwdjoj3+mTsNAcppRPW47QCriJjQwQ3KFfvEBCeQVklj6svLq6HZ9XQ4QbcRJqRaDt04sBmTrI27MhCjLUSB+7itrX6JQYAuxLLKTJLBfks39jSNktlflUG";
const STREAMED =
  "KLUv/QRYXQMA0oYVGJA3bd1bkcj+766UulESfB+IVG/N6fqXHGutD9bktAGuKmRDAEcqVy/d5gKFR1BWyePOFxPXw7RqqnCbe0gzEm2HTgzYUErWhh15EGQ9iYubuO1Z/RIFALsSi1NUP8vntrTCUplf6QFjFSoh";

const sized = Buffer.from(SIZED, "base64");
const streamed = Buffer.from(STREAMED, "base64");
const LIMIT = 100_000;

const { signal } = new AbortController();
const decode = (bytes: Uint8Array, coding: ContentCoding, maxBytes = LIMIT, grow = (_: number) => {}) =>
  decodeBody(bytes, coding, { maxBytes, grow }, { signal });

/** A frame with a window of 2 ** (10 + exponent) bytes, of blocks that repeat one byte. */
function repeated(blocks: number, blockBytes: number, exponent = 7): Uint8Array {
  const bytes = [0x28, 0xb5, 0x2f, 0xfd, 0, exponent << 3];
  for (let at = 0; at < blocks; at += 1) {
    const header = (blockBytes << 3) | (1 << 1) | (at === blocks - 1 ? 1 : 0);
    bytes.push(header & 255, (header >> 8) & 255, (header >> 16) & 255, 0x20);
  }
  return Uint8Array.from(bytes);
}

describe("decoding a body", () => {
  it("gives the bytes that were encoded", async () => {
    assert.equal(Buffer.from(await decode(sized, "zstd")).toString(), TEXT);
    assert.equal(Buffer.from(await decode(streamed, "zstd")).toString(), TEXT);
    assert.equal(Buffer.from(await decode(gzipSync(TEXT), "gzip")).toString(), TEXT);
  });

  it("takes several frames, and skips those that hold no content", async () => {
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const decoded = await decode(Buffer.concat([sized, skippable, streamed]), "zstd");
    assert.equal(Buffer.from(decoded).toString(), TEXT + TEXT);
  });

  it("takes exactly as many bytes as the limit allows, and counts them", async () => {
    let counted = 0;
    const count = (bytes: number) => {
      counted += bytes;
    };
    assert.equal((await decode(sized, "zstd", TEXT.length, count)).length, TEXT.length);
    assert.equal(counted, WORKING_BYTES + TEXT.length);
    assert.equal((await decode(gzipSync(TEXT), "gzip", TEXT.length)).length, TEXT.length);
  });

  for (const { name, bytes, coding } of [
    { name: "a zstd frame that announces more", bytes: sized, coding: "zstd" },
    { name: "a zstd frame that announces nothing", bytes: streamed, coding: "zstd" },
    { name: "gzip", bytes: gzipSync(TEXT), coding: "gzip" },
  ] as const) {
    it(`refuses one byte too many: ${name}`, async () => {
      await assert.rejects(decode(bytes, coding, TEXT.length - 1), { kind: "BODY_TOO_LARGE" });
    });
  }

  it("stops a bomb at the limit", async () => {
    let most = 0;
    const grow = (bytes: number) => {
      most += bytes;
    };
    await assert.rejects(decode(repeated(20_000, 131_072), "zstd", 1_000_000, grow), {
      kind: "BODY_TOO_LARGE",
    });
    assert.ok(most <= WORKING_BYTES + 1_000_000, `${most} bytes were kept`);
    const zeros = gzipSync(Buffer.alloc(20_000_000));
    await assert.rejects(decode(zeros, "gzip", 1_000_000), { kind: "BODY_TOO_LARGE" });
  });

  it("refuses a window that would take more memory than decoders must have", async () => {
    assert.equal((await decode(repeated(1, 10, 13), "zstd")).length, 10);
    await assert.rejects(decode(repeated(1, 10, 14), "zstd"), { kind: "INVALID_REQUEST" });
    await assert.rejects(decode(repeated(1, 10, 21), "zstd"), { kind: "INVALID_REQUEST" });
  });

  it("refuses bytes that are not in the coding, or not whole, as the caller's fault", async () => {
    const faulty: [Uint8Array, ContentCoding][] = [
      [Buffer.from(TEXT), "zstd"],
      [Buffer.from(TEXT), "gzip"],
      [Buffer.concat([sized, Buffer.from("more")]), "zstd"],
    ];
    for (let length = 1; length < sized.length; length += 1) faulty.push([sized.subarray(0, length), "zstd"]);
    for (const length of [1, 10, 40]) faulty.push([gzipSync(TEXT).subarray(0, length), "gzip"]);
    for (const [bytes, coding] of faulty) {
      await assert.rejects(decode(bytes, coding), (error: unknown) => {
        assert.ok(error instanceof ServiceError, String(error));
        assert.deepEqual([error.kind, error.issues[0]?.type], ["INVALID_REQUEST", "media_type"]);
        return true;
      });
    }
  });

  it("answers any damage with a refusal or with other bytes", async () => {
    for (let at = 0; at < sized.length; at += 1) {
      const damaged = Buffer.from(sized);
      damaged[at] = (damaged[at] ?? 0) ^ 0x55;
      await decode(damaged, "zstd").catch((error: unknown) => {
        assert.ok(error instanceof ServiceError, String(error));
        assert.ok(["INVALID_REQUEST", "BODY_TOO_LARGE"].includes(error.kind), error.kind);
      });
    }
  });

  it("passes on that there is no room", async () => {
    const full = new ServiceError("QUEUE_FULL", "No room.");
    const refuse = () => {
      throw full;
    };
    await assert.rejects(decode(sized, "zstd", LIMIT, refuse), full);
    await assert.rejects(decode(gzipSync(TEXT), "gzip", LIMIT, refuse), full);
  });
});
