import { createHash, randomUUID } from "node:crypto";
import { constants, copyFile, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../errors.ts";
import { digestOf, locateFile, makeFolder } from "../models/package/package-file.ts";

/** The digest of a file's content. The hub states a SHA-256 for large files only. */
export interface Digest {
  readonly sha256: string | undefined;
  /** Git's id of the content: SHA-1 of `blob <bytes>\0` and the content. */
  readonly gitId?: string | undefined;
}

/**
 * Whether a folder has a file with exactly this content. Unreadable files, and links out of the folder, count as missing.
 *
 * @throws the signal's reason
 */
export async function isPresent(
  folder: string,
  name: string,
  digest: Digest,
  signal: AbortSignal,
): Promise<boolean> {
  const located = await locateFile(folder, name);
  return located.fault === undefined && hasContent(located.path, digest, signal);
}

/** Whether a file can be read and has this content. @throws the signal's reason */
export async function hasContent(file: string, digest: Digest, signal: AbortSignal): Promise<boolean> {
  return (await contentFault(file, digest, signal)) === undefined;
}

/**
 * Copies a file from the cache of the hub's own tools. Unusable files are reported and treated as missing.
 *
 * @param snapshot folder of the commit's files in the cache, mostly links
 * @returns whether `target` now exists with the expected content
 * @throws the system's error when the copy cannot be written; the signal's reason
 */
export async function copyCached(
  snapshot: string,
  { path: name, ...digest }: Digest & { readonly path: string },
  target: string,
  { note, signal }: { readonly note: (text: string) => void; readonly signal: AbortSignal },
): Promise<boolean> {
  const located = await locateFile(snapshot, name);
  if (located.fault === "missing") return false;
  // also checked before copying: an error during the copy does not show which side failed
  const fault =
    located.fault === undefined
      ? ((await contentFault(located.path, digest, signal)) ??
        (await copyFault(located.path, target, digest, signal)))
      : located.why;
  if (fault !== undefined) note(`${path.join(snapshot, name)} ${fault}: not used`);
  return fault === undefined;
}

/** Copies, and gives the copy its name if its content is right. */
async function copyFault(
  file: string,
  target: string,
  digest: Digest,
  signal: AbortSignal,
): Promise<string | undefined> {
  const copy = `${target}.${randomUUID()}`;
  await makeFolder(path.dirname(target));
  try {
    // shares blocks if the file system can
    await copyFile(file, copy, constants.COPYFILE_FICLONE);
    const fault = await contentFault(copy, digest, signal);
    if (fault === undefined) await rename(copy, target);
    return fault;
  } finally {
    await rm(copy, { force: true });
  }
}

/** The fault of a file's content, as the end of a sentence. @throws the signal's reason */
async function contentFault(file: string, digest: Digest, signal: AbortSignal): Promise<string | undefined> {
  try {
    const isRight =
      digest.sha256 === undefined
        ? gitIdOf(await readFile(file)) === digest.gitId
        : (await digestOf(file, signal)) === digest.sha256;
    return isRight ? undefined : "differs from the published file";
  } catch (error) {
    signal.throwIfAborted();
    return `cannot be read (${codeOf(error) ?? String(error)})`;
  }
}

/** @see https://git-scm.com/book/en/v2/Git-Internals-Git-Objects */
const gitIdOf = (content: Uint8Array) =>
  createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
