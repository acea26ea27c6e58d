import { constants, copyFile, rm } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../errors.ts";
import type { Manifest } from "../models/package/manifest.ts";
import { readManifestText } from "../models/package/package.ts";
import { digestOf, locateFile } from "../models/package/package-file.ts";

/** Content of `manifest.json` of a pulled package. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/**
 * Size of a file if the folder has it with exactly this content. Unreadable files count as missing.
 *
 * @throws the signal's reason
 */
export async function rightBytes(
  folder: string,
  name: string,
  sha256: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const located = await locateFile(folder, name);
  if (located.fault !== undefined) return undefined;
  return (await contentFault(located.path, sha256, signal)) === undefined ? located.bytes : undefined;
}

/**
 * The files of a package that is complete in its folder, manifest included. Writes nothing, because the store may be
 * read-only.
 *
 * @throws the signal's reason
 */
export async function completeFiles(
  folder: string,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<readonly { readonly name: string; readonly bytes: number }[] | undefined> {
  const present = await readManifestText(folder).catch(() => "");
  if (present !== manifestText(manifest)) return undefined;
  const files: { name: string; bytes: number }[] = [];
  for (const [name, sha256] of Object.entries(manifest.files)) {
    const bytes = await rightBytes(folder, name, sha256, signal);
    if (bytes === undefined) return undefined;
    files.push({ name, bytes });
  }
  return files;
}

/** A file in the cache of the hub's own tools. */
export interface CachedFile {
  /** Folder of the commit's files, mostly links. */
  readonly snapshot: string;
  readonly name: string;
  readonly sha256: string;
}

/**
 * Copies a file from the hub's cache. Unusable files are reported and treated as missing.
 *
 * @returns whether the copy exists with the expected content
 * @throws the system's error when the copy cannot be written; the signal's reason
 */
export async function copyCached(
  { snapshot, name, sha256 }: CachedFile,
  copy: string,
  { note, signal }: { readonly note: (text: string) => void; readonly signal: AbortSignal },
): Promise<boolean> {
  const located = await locateFile(snapshot, name);
  if (located.fault === "missing") return false;
  // also checked before copying: an error during the copy does not show which side failed
  const fault =
    located.fault === undefined
      ? ((await contentFault(located.path, sha256, signal)) ??
        (await copyFault(located.path, copy, sha256, signal)))
      : located.why;
  if (fault !== undefined) note(`${path.join(snapshot, name)} ${fault}: not used`);
  return fault === undefined;
}

/** Copies, and keeps the copy if its content is right. */
async function copyFault(
  file: string,
  copy: string,
  sha256: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  // shares blocks if the file system can
  await copyFile(file, copy, constants.COPYFILE_FICLONE);
  const fault = await contentFault(copy, sha256, signal);
  if (fault !== undefined) await rm(copy);
  return fault;
}

/** The fault of a file's content, as the end of a sentence. @throws the signal's reason */
async function contentFault(file: string, sha256: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const found = await digestOf(file, signal);
    return found === sha256 ? undefined : "differs from the published file";
  } catch (error) {
    signal.throwIfAborted();
    return `cannot be read (${codeOf(error) ?? String(error)})`;
  }
}
