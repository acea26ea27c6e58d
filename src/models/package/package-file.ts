import { createHash } from "node:crypto";
import { mkdir, open, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../../errors.ts";
import { ARCHITECTURE_FACTS } from "../architectures/manifests.ts";

/**
 * Maximum size of a package's file. Chosen: a tokenizer.json of 262,144 tokens has 33 MB, weights of 270M numbers 0.5
 * GB.
 */
const MAX_JSON_BYTES = 2 ** 28;
const MAX_FILE_BYTES = 2 ** 34;
/** Maximum size of a manifest, and of other files that describe a model. Chosen: they have a few kilobytes. */
export const MAX_MANIFEST_BYTES = 2 ** 20;

/** Bytes hashed at once. Chosen: little memory, and large enough that system calls do not matter. */
const PIECE_BYTES = 2 ** 18;

const DESCRIPTIONS = new Set([
  "manifest.json",
  ...Object.values(ARCHITECTURE_FACTS).flatMap(({ descriptions = [] }) => descriptions),
]);

/** Why a file of a package is not used. */
export type FileFault = "missing" | "outside" | "not-a-file" | "too-large" | "unreadable";

export type LocatedFile =
  | { readonly path: string; readonly bytes: number; readonly fault?: undefined }
  | { readonly fault: FileFault; readonly why: string };

/**
 * Locates a file of a folder without opening it. Follows symbolic links within the folder, which mounted volumes use,
 * and links to the blobs of the hub's cache if the folder is part of one. A link to any other place is a fault.
 */
export async function locateFile(folder: string, name: string): Promise<LocatedFile> {
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(path.join(folder, name))]);
    if (![root, ...blobsOf(root)].some((each) => isBelow(each, file)))
      return { fault: "outside", why: `is a link out of the folder, to ${file}` };
    const found = await stat(file);
    // a pipe or a device could be read forever
    if (!found.isFile()) return { fault: "not-a-file", why: "is not a regular file" };
    const most = mostBytesOf(name);
    if (found.size > most)
      return { fault: "too-large", why: `has ${found.size} bytes; the maximum is ${most}` };
    return { path: file, bytes: found.size };
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR")
      return { fault: "missing", why: "does not exist" };
    return { fault: "unreadable", why: `cannot be read (${codeOf(error) ?? String(error)})` };
  }
}

function mostBytesOf(name: string): number {
  if (DESCRIPTIONS.has(name)) return MAX_MANIFEST_BYTES;
  return name.endsWith(".json") ? MAX_JSON_BYTES : MAX_FILE_BYTES;
}

function isBelow(folder: string, file: string): boolean {
  const within = path.relative(folder, file);
  return within !== ".." && !within.startsWith(`..${path.sep}`) && !path.isAbsolute(within);
}

/**
 * Folder of the files that the links in a folder of the hub's cache point to: `models--<namespace>--<name>/blobs`,
 * beside `snapshots/<commit>`.
 *
 * @see https://huggingface.co/docs/huggingface_hub/guides/manage-cache
 */
function blobsOf(folder: string): readonly string[] {
  const model = /^(.*[\\/]models--[^\\/]+)[\\/]snapshots[\\/][^\\/]+([\\/]|$)/.exec(folder)?.[1];
  return model === undefined ? [] : [path.join(model, "blobs")];
}

/** Hexadecimal SHA-256 of a file, read in pieces into one buffer. @throws the system's error; the signal's reason */
export async function digestOf(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  const piece = new Uint8Array(PIECE_BYTES);
  const handle = await open(file, "r");
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await handle.read(piece, 0, PIECE_BYTES);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(piece.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/**
 * Parses JSON of a package. Ignores a byte order mark, which some editors write (RFC 8259, 8.1 allows to ignore it).
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ""));
}

/**
 * Creates a folder and its parents. Node's recursive mkdir reports ENOENT for a read-only file system, and loops
 * forever if the system answers ENOENT for the first missing folder (below /proc; Node 20).
 *
 * @throws the system's error
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const above = path.dirname(folder);
  if (above !== folder) await makeFolder(above);
  await mkdir(folder).catch(async (error: unknown) => {
    if (!(await isFolder(folder))) throw error; // else another process was faster
  });
}

const isFolder = (folder: string) =>
  stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
