import { constants, copyFile, lstat, mkdtemp, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeOf, invalidModel, ServiceError } from "../../errors.ts";
import type { Manifest } from "../package/manifest.ts";
import { packagePath, readManifestText } from "../package/package.ts";
import { digestOf, makeFolder } from "../package/package-file.ts";

const MANIFEST = "manifest.json";

export interface WriteTarget {
  /** Folder of the package. Default: the folder of the files. */
  readonly to?: string | undefined;
  readonly mayReplace: boolean;
}

/**
 * Writes manifest.json into the folder, or into another folder with copies of the files. Files are first written under
 * temporary names. When all are complete and match their digests they are renamed, the manifest last. If writing fails,
 * all temporary files are removed.
 *
 * @throws ServiceError INVALID_MODEL if a manifest exists that may not be replaced, if a file has changed since the
 *         manifest was made, or if the folder cannot be written
 */
export async function writePackage(
  from: string,
  manifest: Manifest,
  { to = from, mayReplace }: WriteTarget,
): Promise<void> {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  const isSame = path.resolve(to) === path.resolve(from);
  const present = await presentManifest(to);
  if (present === text && isSame) return;
  if (present !== undefined && present !== text && !mayReplace)
    throw invalidModel(`${path.join(to, MANIFEST)} already exists. Use --force to replace it.`);
  if (present !== text && !isSame && !mayReplace) await refuseForeignFiles(to, manifest.files);
  const isNew = !(await isThere(to));
  try {
    await makeFolder(path.resolve(to));
    await fill(from, to, isSame ? {} : manifest.files, text);
  } catch (error) {
    if (isNew) await rmdir(to).catch(() => {}); // stays if it is not empty
    if (error instanceof ServiceError) throw error;
    throw invalidModel(
      `${to} cannot be written (${codeOf(error) ?? error}). Choose another folder with --output.`,
      error,
    );
  }
}

/** @param files SHA-256 of each file, by name @throws ServiceError INVALID_MODEL if one exists with another content */
async function refuseForeignFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, sha256] of Object.entries(files)) {
    const file = path.join(folder, name);
    const isForeign = await lstat(file).then(
      async (found) => !found.isFile() || (await digestOf(file)) !== sha256,
      () => false,
    );
    if (isForeign)
      throw invalidModel(`${file} already exists and is a different file. Use --force to replace it.`);
  }
}

/** @param files SHA-256 of each file that is copied, by name */
async function fill(
  from: string,
  to: string,
  files: Readonly<Record<string, string>>,
  manifestText: string,
): Promise<void> {
  const stage = await mkdtemp(path.join(to, ".import-"));
  try {
    for (const [name, sha256] of Object.entries(files)) {
      const copy = path.join(stage, name);
      await copyFile(
        await packagePath(from, name),
        copy,
        constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL,
      );
      if ((await digestOf(copy)) !== sha256)
        throw invalidModel(`${name} in ${from} has changed while it was copied.`);
    }
    await writeFile(path.join(stage, MANIFEST), manifestText);
    // a rename replaces an existing link and does not touch its target
    for (const name of [...Object.keys(files), MANIFEST])
      await rename(path.join(stage, name), path.join(to, name));
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** The existing manifest; undefined if there is none. An unreadable one counts as a manifest with another content. */
async function presentManifest(folder: string): Promise<string | undefined> {
  if (!(await isThere(path.join(folder, MANIFEST)))) return undefined;
  return readManifestText(folder).catch(() => "");
}

const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );
