import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ModelPackage, openModelPackage, revisionOf } from "../../src/models/package/package.ts";

/** A copy of a package in a folder of its own, which can be changed and is then sound again by its digests. */
export class ChangedPackage {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async of(original: string): Promise<ChangedPackage> {
    const folder = await mkdtemp(path.join(tmpdir(), "changed-package-"));
    await cp(original, folder, { recursive: true });
    return new ChangedPackage(folder);
  }

  /** Rewrites a file, or makes it. */
  async change(name: string, to: (bytes: Buffer) => Uint8Array | string): Promise<void> {
    const file = path.join(this.folder, name);
    await writeFile(file, to(await readFile(file).catch(() => Buffer.alloc(0))));
  }

  async changeJson(name: string, change: (json: Record<string, unknown>) => void): Promise<void> {
    await this.change(name, (bytes) => {
      const json = JSON.parse(bytes.toString());
      change(json);
      return JSON.stringify(json);
    });
  }

  /** With the digests and the revision of the files as they are, and `more` in the manifest. */
  async open(files?: readonly string[], more: object = {}): Promise<ModelPackage> {
    const manifest = JSON.parse(await readFile(path.join(this.folder, "manifest.json"), "utf8"));
    const digests: Record<string, string> = {};
    for (const name of files ?? Object.keys(manifest.files)) {
      digests[name] = createHash("sha256")
        .update(await readFile(path.join(this.folder, name)))
        .digest("hex");
    }
    const [model] = manifest.id.split("@");
    const changed = { ...manifest, ...more, id: `${model}@${revisionOf(digests)}`, files: digests };
    await writeFile(path.join(this.folder, "manifest.json"), JSON.stringify(changed));
    return openModelPackage(this.folder);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A safetensors file with another header; tensors stay where they are. */
export function changeHeader(
  file: Buffer,
  change: (header: Record<string, { dtype: string; shape: number[]; data_offsets: number[] }>) => void,
): Buffer {
  const end = 8 + Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, end).toString());
  change(header);
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, file.subarray(end)]);
}

/** Where a tensor's bytes begin in a safetensors file. */
export function beginOf(file: Buffer, name: string): number {
  const end = 8 + Number(file.readBigUInt64LE(0));
  return end + JSON.parse(file.subarray(8, end).toString())[name].data_offsets[0];
}
