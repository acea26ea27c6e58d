import { createHash, timingSafeEqual } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ServiceError } from "../../errors.ts";
import { type ModelPackage, packagePath } from "./package.ts";

/** Bytes per hashed block. Chosen: small compared with a matrix, large compared with a hash. */
const BLOCK_BYTES = 2 ** 18;

/**
 * A package file that is too large for memory. Opening reads it once and compares its SHA-256 with the manifest. Later
 * reads are compared block by block with that first read. So the used bytes match the manifest even if the file
 * changes.
 */
export class VerifiedFile {
  readonly name: string;
  readonly byteLength: number;
  readonly #descriptor: number;
  readonly #digests: Buffer[];

  private constructor(name: string, descriptor: number, byteLength: number, digests: Buffer[]) {
    this.name = name;
    this.byteLength = byteLength;
    this.#descriptor = descriptor;
    this.#digests = digests;
  }

  /** @throws ServiceError INVALID_MODEL if it is missing or changed */
  static async open(modelPackage: ModelPackage, name: string): Promise<VerifiedFile> {
    const file = await packagePath(modelPackage.folder, name);
    const descriptor = openSync(file, "r");
    try {
      const { size } = fstatSync(descriptor);
      const { whole, digests } = digestBlocks(descriptor, size);
      if (whole !== modelPackage.manifest.files[name]) throw changed(name);
      return new VerifiedFile(name, descriptor, size, digests);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** A copy of the bytes `begin` .. `end` - 1. @throws ServiceError INVALID_MODEL when they have changed */
  read(begin: number, end: number): Uint8Array {
    const wanted = new Uint8Array(end - begin);
    const block = new Uint8Array(BLOCK_BYTES);
    for (let at = begin - (begin % BLOCK_BYTES); at < end; at += BLOCK_BYTES) {
      const bytes = block.subarray(0, Math.min(BLOCK_BYTES, this.byteLength - at));
      const digest = this.#digests[at / BLOCK_BYTES];
      const isWhole = readFully(this.#descriptor, bytes, at);
      if (!isWhole || !digest || !timingSafeEqual(digestOf(bytes), digest)) throw changed(this.name);
      const from = Math.max(begin, at);
      wanted.set(bytes.subarray(from - at, Math.min(end - at, BLOCK_BYTES)), from - begin);
    }
    return wanted;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function digestBlocks(descriptor: number, size: number): { whole: string; digests: Buffer[] } {
  const whole = createHash("sha256");
  const digests: Buffer[] = [];
  const block = new Uint8Array(BLOCK_BYTES);
  for (let at = 0; at < size; at += BLOCK_BYTES) {
    const bytes = block.subarray(0, Math.min(BLOCK_BYTES, size - at));
    readFully(descriptor, bytes, at);
    whole.update(bytes);
    digests.push(digestOf(bytes));
  }
  return { whole: whole.digest("hex"), digests };
}

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();

/** @returns whether the file had enough bytes */
function readFully(descriptor: number, bytes: Uint8Array, position: number): boolean {
  let done = 0;
  while (done < bytes.length) {
    const read = readSync(descriptor, bytes, done, bytes.length - done, position + done);
    if (read === 0) return false;
    done += read;
  }
  return true;
}

function changed(name: string): ServiceError {
  return new ServiceError("INVALID_MODEL", `${name} does not match its digest in manifest.json.`);
}
