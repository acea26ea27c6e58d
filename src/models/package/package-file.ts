import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";

/** What no file of a package reaches, chosen: a tokenizer.json of 262,144 tokens has 33 MB, weights of 270M numbers 0.5 GB. */
const MAX_JSON_BYTES = 2 ** 28;
const MAX_FILE_BYTES = 2 ** 34;
/** A manifest, or another file that describes a model, has a few kilobytes; what is longer is none. */
export const MAX_MANIFEST_BYTES = 2 ** 20;

const DESCRIPTIONS = ["manifest.json", "onnx_manifest.json", "config.json", "joint_config.json"];

/** Why a file of a package is not used. */
export type FileFault = "missing" | "outside" | "not-a-file" | "too-large" | "unreadable";

export type LocatedFile =
  | { readonly path: string; readonly bytes: number; readonly fault?: undefined }
  | { readonly fault: FileFault; readonly why: string };

/**
 * Finds a file of a folder without opening it. Symbolic links are followed as long as they stay in the folder, as mounted
 * volumes need it, or lead to the blobs of the hub's cache that the folder is in; what lies elsewhere is no part of the package.
 */
export async function locateFile(folder: string, name: string): Promise<LocatedFile> {
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(path.join(folder, name))]);
    if (![root, ...blobsOf(root)].some((each) => isBelow(each, file)))
      return { fault: "outside", why: `leads out of the folder, to ${file}` };
    const found = await stat(file);
    // a pipe or a device could be read for ever
    if (!found.isFile()) return { fault: "not-a-file", why: "is not a regular file" };
    const most = mostBytesOf(name);
    if (found.size > most)
      return { fault: "too-large", why: `has ${found.size} bytes, more than the ${most} that are read` };
    return { path: file, bytes: found.size };
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR")
      return { fault: "missing", why: "is not there" };
    return { fault: "unreadable", why: `cannot be read (${codeOf(error) ?? String(error)})` };
  }
}

function mostBytesOf(name: string): number {
  if (DESCRIPTIONS.includes(name)) return MAX_MANIFEST_BYTES;
  return name.endsWith(".json") ? MAX_JSON_BYTES : MAX_FILE_BYTES;
}

function isBelow(folder: string, file: string): boolean {
  const within = path.relative(folder, file);
  return within !== ".." && !within.startsWith(`..${path.sep}`) && !path.isAbsolute(within);
}

/**
 * Where the hub's tools keep what the links in a folder of their cache lead to:
 * `models--<namespace>--<name>/blobs`, beside `snapshots/<commit>`.
 *
 * @see https://huggingface.co/docs/huggingface_hub/guides/manage-cache
 */
function blobsOf(folder: string): readonly string[] {
  const model = /^(.*[\\/]models--[^\\/]+)[\\/]snapshots[\\/][^\\/]+([\\/]|$)/.exec(folder)?.[1];
  return model === undefined ? [] : [path.join(model, "blobs")];
}

/** SHA-256 of a file in hex, read piece by piece. @throws the system's error */
export async function digestOf(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(
    createReadStream(file, { highWaterMark: 2 ** 20 }),
    hash,
    signal === undefined ? {} : { signal },
  );
  return hash.digest("hex");
}

/**
 * Reads JSON of a package. A byte order mark before it is dropped, as a parser may (RFC 8259, 8.1): editors write one, and it says
 * nothing.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ""));
}

/**
 * Makes a folder and those above it. Node's own recursive mkdir tells ENOENT for a file system that cannot be written, and loops
 * without end where the system answers ENOENT to the first folder that is missing (below /proc; Node 20).
 *
 * @throws the system's error
 */
export async function makeFolder(folder: string, attempts = 3): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const code = codeOf(error);
    const isThere = code === "EEXIST" || code === "EROFS" || code === "EACCES" || code === "EPERM";
    if (isThere && (await isFolder(folder))) return;
    const above = path.dirname(folder);
    if (code !== "ENOENT" || above === folder || attempts === 1) throw error;
    // another process may make or remove the folder above this very moment: hence a few attempts, and no more
    if (!(await isFolder(above))) await makeFolder(above);
    await makeFolder(folder, attempts - 1);
  }
}

const isFolder = (folder: string) =>
  stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** The system's code of an error, `ENOENT` for example. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
