import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { invalidOption } from "../../errors.ts";
import { homeFolder } from "../../home.ts";
import { architectureFacts } from "../../models/architectures/manifests.ts";
import { graphFolders, removeGraphs } from "../../models/graph/graph-cache.ts";
import { flattened, graphIn } from "../../models/inspect/flat-folder.ts";
import {
  type Examination,
  examineFiles,
  examinePackage,
  type Fault,
  pinFaults,
} from "../../models/inspect/package-faults.ts";
import { describeFolder, type ImportFacts, nameOf } from "../../models/inspect/package-import.ts";
import { type WriteTarget, writePackage } from "../../models/inspect/package-writing.ts";
import type { Manifest } from "../../models/package/manifest.ts";
import { otherNames } from "../../models/package/package.ts";
import { locateFile } from "../../models/package/package-file.ts";
import { publishedTerms } from "../../models/store/catalogue.ts";
import {
  findModel,
  type KnownModel,
  knownModels,
  publishedModel,
  shortName,
} from "../../models/store/store.ts";
import { removePulled } from "../../models/store/store-removal.ts";
import { modelShelves, openServedManifest } from "../../served-model.ts";
import { bytesText, table } from "../output/model-text.ts";
import { plainLine } from "../output/plain-text.ts";

/** Where a model is, in words. */
const STATES: Readonly<Record<KnownModel["source"] | "folder", string>> = {
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

/** `decision model list`. @throws ServiceError INVALID_MODEL */
export async function listModels(isJson: boolean): Promise<string> {
  const known = await Promise.all((await knownModels(modelShelves())).map(describe));
  if (isJson) return JSON.stringify({ models: known }, null, 2);
  const rows = known.map(({ name, id, state, bytes }) => [
    name,
    state === "published" ? `${STATES.published} ${name}` : STATES[state],
    bytes === null ? "" : bytesText(bytes),
    id,
  ]);
  return table([["name", "state", "size", "id"], ...rows]);
}

/** `decision model show`. @throws ServiceError INVALID_OPTION | INVALID_MODEL */
export async function showModel(nameOrFolder: string, isJson: boolean): Promise<string> {
  const model = await modelOf(nameOrFolder);
  const facts = await describe(model);
  if (isJson) return JSON.stringify(facts, null, 2);
  const { manifest } = model;
  const { type } = manifest.architecture;
  const rows = [
    ["id", manifest.id],
    ["other names", otherNames(manifest).join(", ")],
    ["version", `${manifest.version} of ${manifest.release_date}`],
    ["description", manifest.description],
    ["architecture", `${type}, ${architectureFacts(type).describe(manifest.architecture)}`],
    ["limits", limitsText(manifest)],
    ["temperature", String(manifest.temperature)],
    ["choices show", manifest.shows_labels ? "label: description" : "the description alone"],
    ...(facts.terms === null ? [] : [["terms", facts.terms]]),
    ...(manifest.origin
      ? [["published as", `${manifest.origin.repository} at ${manifest.origin.revision}`]]
      : []),
    ["state", facts.state === "published" ? `${STATES.published} ${facts.name}` : STATES[facts.state]],
    [facts.state === "published" ? "would be in" : "folder", model.folder],
  ];
  const files = facts.files.map(({ name, sha256, bytes }) => [
    name,
    bytes === null ? "" : bytesText(bytes),
    `sha256 ${sha256}`,
  ]);
  return `${table(rows)}\n\n${table(files)}`;
}

/** `decision model verify`. @throws ServiceError INVALID_OPTION | INVALID_MODEL (it is not on this machine) */
export async function verifyModel(nameOrFolder: string, isJson: boolean) {
  return verdict(await examinePackage(await folderOf(nameOrFolder)), isJson);
}

async function folderOf(nameOrFolder: string): Promise<string> {
  if (await isFolder(nameOrFolder)) return nameOrFolder;
  // `serve` accepts an empty name for the embedded model; here it is probably an unset shell variable
  if (nameOrFolder === "") throw invalidOption("expected a model's name or folder, got an empty text.");
  return (await openServedManifest({ model: nameOrFolder })).folder;
}

function verdict(found: Examination, isJson: boolean) {
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

/** `decision model remove`. @throws ServiceError INVALID_OPTION | PULL_FAILED */
export async function removeModel(name: string, isJson: boolean): Promise<string> {
  const shelves = modelShelves();
  const { manifest, source } = await findModel(name, shelves);
  if (source === "embedded")
    throw invalidOption(`${manifest.id} is part of this installation and cannot be removed.`);
  const pulled = await removePulled(shelves.store, manifest.id);
  const [withoutRevision = ""] = manifest.id.split("@");
  const { cache } = graphFolders(process.env, homeFolder(), tmpdir());
  const removed = [...pulled, ...(await removeGraphs(withoutRevision, cache))];
  if (isJson) return JSON.stringify({ id: manifest.id, removed }, null, 2);
  return removed.length === 0
    ? `${manifest.id} is not on this machine`
    : `removed ${manifest.id} from ${path.dirname(removed[0] ?? "")}`;
}

interface ImportCommand {
  /** Path of a classifier's graph in the folder. */
  readonly file?: string | undefined;
  readonly to?: string | undefined;
  readonly mayReplace: boolean;
  readonly isJson: boolean;
}

/** Writes a package, unless it could not be served. @returns its faults in that case */
async function writeFrom(
  folder: string,
  facts: ImportFacts,
  target: WriteTarget,
): Promise<Examination | undefined> {
  const manifest = await describeFolder(folder, facts);
  const examined = await examineFiles(folder, manifest);
  if (examined.faults.length > 0) return examined;
  await writePackage(folder, manifest, target);
  return undefined;
}

/** `decision model import`. @throws ServiceError INVALID_OPTION | INVALID_MODEL */
export async function importFolder(
  folder: string,
  facts: ImportFacts,
  { file, to = folder, mayReplace, isJson }: ImportCommand,
) {
  // an empty path would be the current folder
  if (folder === "" || to === "") throw invalidOption("expected a folder, got an empty text.");
  const graph = file ?? (await graphIn(folder));
  const refused =
    graph === undefined
      ? await writeFrom(folder, facts, { to, mayReplace })
      : await flattened(folder, graph, (flat) =>
          writeFrom(flat, { ...facts, name: facts.name ?? nameOf(folder) }, { to, mayReplace }),
        );
  if (refused !== undefined) return verdict(refused, isJson);
  const { isFaultless, text } = verdict(await examinePackage(to), isJson);
  if (isJson) return { isFaultless, text };
  const written = `wrote ${path.join(path.resolve(to), "manifest.json")}`;
  return {
    isFaultless,
    text: [written, text, ...(isFaultless ? [`serve it: decision serve --model-path ${to}`] : [])].join("\n"),
  };
}

async function modelOf(
  nameOrFolder: string,
): Promise<Omit<KnownModel, "source"> & { source: keyof typeof STATES }> {
  if (!(await isFolder(nameOrFolder))) return findModel(nameOrFolder, modelShelves());
  const { folder, manifest } = await openServedManifest({ modelPath: nameOrFolder });
  return { folder: path.resolve(folder), manifest, source: "folder" };
}

/** A model name takes precedence over a folder of the same name. Use `./name` for the folder. */
async function isFolder(nameOrFolder: string): Promise<boolean> {
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

async function describe({ manifest, folder, source }: Awaited<ReturnType<typeof modelOf>>) {
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

function limitsText({ limits }: Manifest): string {
  return `${limits.max_state_question_tokens} tokens of state and question, ${limits.max_candidate_tokens} of a candidate`;
}
