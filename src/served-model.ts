import path from "node:path";
import { ServiceError } from "./errors.ts";
import { homeFolder } from "./home.ts";
import { type ModelPackage, openManifest, openModelPackage } from "./models/package/package.ts";
import {
  type Environment,
  findModel,
  publishedModel,
  type Shelves,
  shortName,
  storeFolder,
} from "./models/store/store.ts";
import type { ServiceOptions } from "./options/table.ts";
import { packageRoot } from "./package-root.ts";

/** Folders where this installation looks for models. */
export function modelShelves(env: Environment = process.env): Shelves {
  return { embedded: path.join(packageRoot, "model"), store: storeFolder(env, homeFolder()) };
}

type Named = Partial<Pick<ServiceOptions, "model" | "modelPath">>;

/**
 * The package to serve: a folder, a named model, or the embedded one. It must be on this machine; nothing here opens a
 * connection.
 *
 * @throws ServiceError INVALID_OPTION for an unknown name | INVALID_MODEL
 */
export async function openServedModel(
  named: Named,
  shelves: Shelves = modelShelves(),
): Promise<ModelPackage> {
  const { folder } = await openServedManifest(named, shelves);
  const opened = await openModelPackage(folder);
  if (!named.modelPath) checkPins(opened, shelves);
  return opened;
}

/** The same, reading only the manifest. @throws ServiceError INVALID_OPTION | INVALID_MODEL */
export async function openServedManifest(
  { model = "", modelPath = "" }: Named,
  shelves: Shelves = modelShelves(),
): Promise<ModelPackage> {
  if (modelPath !== "") return { folder: modelPath, manifest: await openManifest(modelPath) };
  if (model === "") return { folder: shelves.embedded, manifest: await openManifest(shelves.embedded) };
  const { folder, manifest, source } = await findModel(model, shelves);
  if (source !== "published") return { folder, manifest };
  throw new ServiceError(
    "INVALID_MODEL",
    `the model ${manifest.id} is not on this machine. Download it with: decision model pull ${shortName(manifest)}`,
  );
}

/**
 * Compares the manifest with the digests that this version knows for a published model.
 * @throws ServiceError INVALID_MODEL
 */
function checkPins({ folder, manifest }: ModelPackage, { published }: Shelves): void {
  const pinned = publishedModel(manifest.id, published)?.manifest.files ?? {};
  const differing = Object.keys(pinned).find((name) => manifest.files[name] !== pinned[name]);
  if (differing === undefined) return;
  throw new ServiceError(
    "INVALID_MODEL",
    `manifest.json in ${folder} has a digest for ${differing} that differs from the published one. Remove the model and pull it again.`,
  );
}
