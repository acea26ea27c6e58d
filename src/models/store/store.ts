import { readdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { codeOf, ServiceError } from "../../errors.ts";
import type { Manifest } from "../package/manifest.ts";
import { isModelId } from "../package/names.ts";
import { openManifest, otherNames } from "../package/package.ts";
import { PUBLISHED_MODELS, type PublishedModel } from "./catalogue.ts";

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Folder of pulled packages: `<data folder>/typed-decisions/models/<namespace>--<name>/<revision>/`.
 *
 *     <revision>/            checked files; manifest.json is written last and marks the package as complete
 *     <revision>/*.partial   incomplete files, which the next pull continues
 *
 * @see https://specifications.freedesktop.org/basedir-spec/latest/ (a relative path in XDG_DATA_HOME is to be ignored)
 */
export function storeFolder(env: Environment, home: string): string {
  const data = env.XDG_DATA_HOME;
  const base = data !== undefined && path.isAbsolute(data) ? data : path.join(home, ".local", "share");
  return path.join(base, "typed-decisions", "models");
}

/** A package's folder in the store, which need not exist. @param id `<namespace>/<name>@<revision>` */
export function packageFolder(store: string, id: string): string {
  // ids of manifests have been validated; checked again so that nothing is written or deleted outside the store
  if (!isModelId(id)) {
    const shown = JSON.stringify(id.slice(0, 100));
    throw new ServiceError(
      "INVALID_MODEL",
      `${shown} is not a model id, expected <namespace>/<name>@<revision>.`,
    );
  }
  const [repository = "", revision = ""] = id.split("@");
  return path.join(store, repository.replace("/", "--"), revision);
}

/** The name of a model in messages: its last alias, the short one. */
export function shortName(manifest: Manifest): string {
  return otherNames(manifest).at(-1) ?? manifest.id;
}

function isNamed(manifest: Pick<Manifest, "id" | "aliases">, name: string): boolean {
  return manifest.id === name || otherNames(manifest).includes(name);
}

/** The published model of that name. */
export function publishedModel(
  name: string,
  published: readonly PublishedModel[] = PUBLISHED_MODELS,
): PublishedModel | undefined {
  return published.find(({ manifest }) => isNamed(manifest, name));
}

/** A complete package in the store. */
export interface StoredPackage {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** All packages of the store, sorted by name, without folders that have no valid manifest. */
async function storedPackages(store: string): Promise<readonly StoredPackage[]> {
  const found: StoredPackage[] = [];
  for (const name of await foldersOf(store)) {
    for (const revision of await foldersOf(path.join(store, name))) {
      if (!/^[0-9a-f]{40}$/.test(revision)) continue;
      const folder = path.join(store, name, revision);
      const manifest = await openManifest(folder).catch(() => undefined);
      if (manifest && packageFolder(store, manifest.id) === folder) found.push({ folder, manifest });
    }
  }
  return found;
}

async function foldersOf(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw new ServiceError(
      "INVALID_MODEL",
      `The folder of models ${folder} cannot be read (${codeOf(error)}).`,
      {
        cause: error,
      },
    );
  }
}

/** A model that a name on the command line refers to. */
export interface KnownModel {
  readonly manifest: Manifest;
  readonly folder: string;
  readonly source: "embedded" | "pulled" | "published";
}

/** Folders to search for models. */
export interface Shelves {
  /** Folder of the embedded package. */
  readonly embedded: string;
  readonly store: string;
  readonly published?: readonly PublishedModel[];
}

/**
 * All models that this installation knows: embedded, pulled and published ones. A published model that was pulled
 * appears once, as pulled.
 */
export async function knownModels({
  embedded,
  store,
  published = PUBLISHED_MODELS,
}: Shelves): Promise<readonly KnownModel[]> {
  const stored = await storedPackages(store);
  const isStored = (id: string) => stored.some(({ manifest }) => manifest.id === id);
  return [
    { source: "embedded", folder: embedded, manifest: await openManifest(embedded) },
    ...stored.map((found): KnownModel => ({ source: "pulled", ...found })),
    ...published
      .filter(({ manifest }) => !isStored(manifest.id))
      .map(
        ({ manifest }): KnownModel => ({
          source: "published",
          manifest,
          folder: packageFolder(store, manifest.id),
        }),
      ),
  ];
}

/**
 * Finds a model by name. If several share the name, the pinned revision wins. Older revisions need their full id.
 *
 * @throws ServiceError INVALID_OPTION for an unknown name
 */
export async function findModel(name: string, shelves: Shelves): Promise<KnownModel> {
  const known = await knownModels(shelves);
  const named = known.filter(({ manifest }) => isNamed(manifest, name));
  const pinned = publishedModel(name, shelves.published);
  const found =
    named.find(({ manifest }) => manifest.id === name) ??
    named.find(({ source }) => source === "embedded") ??
    named.find(({ manifest }) => manifest.id === pinned?.manifest.id) ??
    named[0];
  if (found) return found;
  const names = [...new Set(known.map(({ manifest }) => shortName(manifest)))].join(", ");
  const advice = /^[./~]|[\\]/.test(name) ? " To serve a folder, use --model-path." : "";
  throw new ServiceError(
    "INVALID_OPTION",
    `unknown model ${JSON.stringify(name.slice(0, 200))}; known models: ${names}.${advice}`,
  );
}

/**
 * Deletes a pulled model, complete or not.
 *
 * @param id `<namespace>/<name>@<revision>`
 * @returns the removed folders
 * @throws ServiceError PULL_FAILED if it cannot be deleted
 */
export async function removePulled(store: string, id: string): Promise<readonly string[]> {
  const folder = packageFolder(store, id);
  try {
    // first the manifest, which marks the package as complete
    await rm(path.join(folder, "manifest.json"), { force: true });
    await rm(folder, { recursive: true });
    await rmdir(path.dirname(folder)).catch(() => {}); // another revision may exist
    return [folder];
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return [];
    throw new ServiceError("PULL_FAILED", `${folder} cannot be deleted (${code ?? error}).`, {
      cause: error,
    });
  }
}
