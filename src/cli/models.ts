import { stat } from "node:fs/promises";
import path from "node:path";
import { type Examination, type Fault, pinFaults } from "../models/inspect/package-faults.ts";
import { otherNames } from "../models/package/package.ts";
import { locateFile } from "../models/package/package-file.ts";
import { publishedTerms } from "../models/store/catalogue.ts";
import { findModel, type KnownModel, knownModels, publishedModel, shortName } from "../models/store/store.ts";
import { modelShelves, openServedManifest } from "../served-model.ts";
import { bytesText } from "./output/model-text.ts";
import { plainLine } from "./output/plain-text.ts";

/** Where a model is, in words. */
export const STATES: Readonly<Record<KnownModel["source"] | "folder", string>> = {
  embedded: "part of this installation",
  pulled: "on disk",
  published: "not pulled; run: decision model pull",
  folder: "a folder",
};

interface FileFacts {
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number | null;
}

export function verdict(found: Examination, isJson: boolean) {
  const pinned = found.manifest && publishedModel(found.manifest.id)?.manifest;
  const faults: readonly Fault[] = [...found.faults, ...pinFaults(found, pinned)];
  const isFaultless = faults.length === 0;
  const folder = path.resolve(found.folder);
  if (isJson) {
    const { files, unknown } = found;
    const id = found.manifest?.id ?? null;
    return {
      isFaultless,
      text: JSON.stringify({ folder, id, isFaultless, faults, files, unknown }, null, 2),
    };
  }
  const bytes = found.files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  const lines = isFaultless
    ? [`${found.manifest?.id} can be served: ${found.files.length} files, ${bytesText(bytes)}, in ${folder}`]
    : [`${folder} cannot be served:`, ...faults.map(({ message }) => `- ${plainLine(message)}`)];
  if (found.unknown.length > 0)
    lines.push(
      `ignored, because the manifest does not name them: ${found.unknown.map(plainLine).join(", ")}`,
    );
  return { isFaultless, text: lines.join("\n") };
}

export async function modelOf(
  nameOrFolder: string,
): Promise<Omit<KnownModel, "source"> & { source: keyof typeof STATES }> {
  if (!(await isFolder(nameOrFolder))) return findModel(nameOrFolder, modelShelves());
  const { folder, manifest } = await openServedManifest({ modelPath: nameOrFolder });
  return { folder: path.resolve(folder), manifest, source: "folder" };
}

/** A model name takes precedence over a folder of the same name. Use `./name` for the folder. */
export async function isFolder(nameOrFolder: string): Promise<boolean> {
  const known = await knownModels(modelShelves());
  if (
    known.some(({ manifest }) => manifest.id === nameOrFolder || otherNames(manifest).includes(nameOrFolder))
  )
    return false;
  return stat(nameOrFolder).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

export async function describe({ manifest, folder, source }: Awaited<ReturnType<typeof modelOf>>) {
  const files: FileFacts[] = [];
  for (const [name, sha256] of Object.entries(manifest.files)) {
    const located = source === "published" ? undefined : await locateFile(folder, name);
    files.push({ name, sha256, bytes: located?.fault === undefined ? (located?.bytes ?? null) : null });
  }
  const isHere = files.every(({ bytes }) => bytes !== null);
  return {
    name: shortName(manifest),
    id: manifest.id,
    aliases: otherNames(manifest),
    version: manifest.version,
    release_date: manifest.release_date,
    description: manifest.description,
    state: source,
    folder,
    bytes: isHere ? files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0) : null,
    architecture: manifest.architecture,
    limits: manifest.limits,
    temperature: manifest.temperature,
    shows_labels: manifest.shows_labels,
    origin: manifest.origin ?? null,
    terms: publishedTerms(manifest.id) ?? null,
    files,
  };
}
