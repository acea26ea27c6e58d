import { constants, copyFile, lstat, mkdtemp, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { ServiceError } from "../../errors.ts";
import type { Manifest } from "../package/manifest.ts";
import { packagePath, readManifestText } from "../package/package.ts";
import { codeOf, digestOf, makeFolder } from "../package/package-file.ts";

const MANIFEST = "manifest.json";

export interface WriteTarget {
  /** The folder of the package; that of the files unless it is given. */
  readonly to?: string | undefined;
  readonly mayReplace: boolean;
}

/**
 * Writes manifest.json into the folder, or into another one with copies of the files. Every file is written beside its place and gets
 * its name when all of them are there and have their digests, the manifest last. When it fails, nothing of it is left.
 *
 * @throws ServiceError INVALID_MODEL when there is a manifest already that may not be replaced, a file has changed since the
 *         manifest was made, or the folder cannot be written
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
    throw invalid(`${path.join(to, MANIFEST)} is there already: --force replaces it.`);
  if (present !== text && !isSame && !mayReplace) await refuseForeignFiles(to, manifest.files);
  const isNew = !(await isThere(to));
  try {
    await makeFolder(path.resolve(to));
    await fill(from, to, isSame ? {} : manifest.files, text);
  } catch (error) {
    if (isNew) await rmdir(to).catch(() => {}); // something is in it: then it stays
    if (error instanceof ServiceError) throw error;
    throw invalid(
      `${to} cannot be written (${codeOf(error) ?? error}): --output names another folder.`,
      error,
    );
  }
}

/** @param files SHA-256 of each, by name @throws ServiceError INVALID_MODEL naming one that is there with another content */
async function refuseForeignFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, sha256] of Object.entries(files)) {
    const file = path.join(folder, name);
    const isForeign = await lstat(file).then(
      async (found) => !found.isFile() || (await digestOf(file)) !== sha256,
      () => false,
    );
    if (isForeign) throw invalid(`${file} is there already, and another file: --force replaces it.`);
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
      if ((await digestOf(copy)) !== sha256) throw invalid(`${name} in ${from} has changed meanwhile.`);
    }
    await writeFile(path.join(stage, MANIFEST), manifestText);
    // of a link that is there already a rename takes the place, and leaves alone what it leads to
    for (const name of [...Object.keys(files), MANIFEST])
      await rename(path.join(stage, name), path.join(to, name));
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Nothing where there is none; what cannot be read as one is no manifest that may be kept. */
async function presentManifest(folder: string): Promise<string | undefined> {
  if (!(await isThere(path.join(folder, MANIFEST)))) return undefined;
  return readManifestText(folder).catch(() => "");
}

const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

function invalid(message: string, cause?: unknown): ServiceError {
  return new ServiceError("INVALID_MODEL", message, { cause });
}
