import { readdir, readFile, stat } from "node:fs/promises";
import { codeOf, ServiceError } from "../../errors.ts";
import { encodingFault } from "../../utf8.ts";
import { checkGraph, openTokenizer } from "../architectures/architectures.ts";
import { examineManifest, type Manifest } from "../package/manifest.ts";
import { type ModelPackage, revisionFault } from "../package/package.ts";
import { digestOf, type FileFault, locateFile } from "../package/package-file.ts";

/** A reason why a package cannot be served. */
export interface Fault {
  readonly file: string;
  readonly kind: FileFault | "manifest" | "revision" | "digest" | "content" | "pin" | "graph" | "tokenizer";
  /** A sentence that begins with the file's name. */
  readonly message: string;
}

interface ExaminedFile {
  readonly name: string;
  /** Undefined if it cannot be read. */
  readonly bytes: number | undefined;
}

export interface Examination {
  readonly folder: string;
  /** Undefined if it is invalid. */
  readonly manifest: Manifest | undefined;
  readonly files: readonly ExaminedFile[];
  readonly faults: readonly Fault[];
  /** Files that the manifest does not list. They are never read. */
  readonly unknown: readonly string[];
}

/** All faults of a package folder. (Opening a package stops at the first fault.) */
export async function examinePackage(folder: string): Promise<Examination> {
  const manifestFile = await examineManifestFile(folder);
  if (!manifestFile.manifest)
    return { folder, manifest: undefined, files: [], unknown: [], faults: manifestFile.faults };
  const { manifest } = manifestFile;
  return { ...(await examineFiles(folder, manifest)), unknown: await unknownFiles(folder, manifest) };
}

/** The same for a manifest that has not been written to the folder yet. */
export async function examineFiles(folder: string, manifest: Manifest): Promise<Examination> {
  const faults: Fault[] = [];
  const revision = revisionFault(manifest);
  if (revision !== undefined)
    faults.push({ file: "manifest.json", kind: "revision", message: `manifest.json ${revision}` });
  const files: ExaminedFile[] = [];
  for (const [name, sha256] of Object.entries(manifest.files)) {
    const located = await locateFile(folder, name);
    files.push({ name, bytes: located.fault === undefined ? located.bytes : undefined });
    if (located.fault !== undefined)
      faults.push({ file: name, kind: located.fault, message: `${name} ${located.why}` });
    else faults.push(...(await contentFaults(name, located.path, sha256)));
  }
  // weights and tokenizer are checked only if the files can be read
  if (faults.length === 0) faults.push(...(await servingFaults({ folder, manifest })));
  return { folder, manifest, files, faults, unknown: [] };
}

async function examineManifestFile(folder: string) {
  const fault = (kind: Fault["kind"], why: string): Fault => ({
    file: "manifest.json",
    kind,
    message: `manifest.json ${why}`,
  });
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const located = await locateFile(folder, "manifest.json");
  if (!isFolder)
    return { manifest: undefined, faults: [fault("missing", `does not exist: ${folder} is not a folder`)] };
  if (located.fault !== undefined)
    return { manifest: undefined, faults: [fault(located.fault, located.why)] };
  const bytes = await readFile(located.path);
  const encoding = encodingFault(bytes);
  if (encoding !== undefined) return { manifest: undefined, faults: [fault("manifest", encoding)] };
  const { manifest, faults } = examineManifest(new TextDecoder().decode(bytes));
  return { manifest, faults: faults.map((why) => fault("manifest", why)) };
}

async function contentFaults(name: string, file: string, sha256: string): Promise<readonly Fault[]> {
  const faults: Fault[] = [];
  try {
    const found = await digestOf(file);
    if (found !== sha256)
      faults.push({
        file: name,
        kind: "digest",
        message: `${name} does not match the manifest: its SHA-256 is ${found}, expected ${sha256}`,
      });
    for (const why of await insideFaults(name, file))
      faults.push({ file: name, kind: "content", message: `${name} ${why}` });
  } catch (error) {
    faults.push({
      file: name,
      kind: "unreadable",
      message: `${name} cannot be read (${codeOf(error) ?? error})`,
    });
  }
  return faults;
}

async function insideFaults(name: string, file: string): Promise<readonly string[]> {
  if (!name.endsWith(".json")) return [];
  const bytes = await readFile(file);
  const encoding = encodingFault(bytes);
  if (encoding !== undefined) return [encoding];
  try {
    JSON.parse(new TextDecoder().decode(bytes));
    return [];
  } catch {
    return ["is not JSON"];
  }
}

/** Checks names, shapes and types of the weights, by architecture, and that the tokenizer fits. */
async function servingFaults(modelPackage: ModelPackage): Promise<readonly Fault[]> {
  const { files } = modelPackage.manifest;
  const weights = await faultOf(checkGraph(modelPackage), "graph", files);
  const tokenizer = await faultOf(openTokenizer(modelPackage), "tokenizer", files);
  return [weights, tokenizer].filter((fault) => fault !== undefined);
}

/**
 * The fault that `checking` reports. Its messages begin with the name of the faulty file, unless that is the manifest.
 */
async function faultOf(
  checking: Promise<unknown>,
  kind: Fault["kind"],
  files: Manifest["files"],
): Promise<Fault | undefined> {
  try {
    await checking;
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const message = error.message.replace(/\.$/, "");
    const file = Object.keys(files).find((name) => message.startsWith(name)) ?? "manifest.json";
    return { file, kind, message };
  }
}

async function unknownFiles(folder: string, { files }: Manifest): Promise<readonly string[]> {
  const entries = await readdir(folder);
  return entries.filter((name) => name !== "manifest.json" && !Object.hasOwn(files, name)).sort();
}

/** A fault if this version knows the published model and its digests differ from the manifest's. */
export function pinFaults({ manifest }: Examination, pinned: Manifest | undefined): readonly Fault[] {
  if (!manifest || manifest.id !== pinned?.id) return [];
  return Object.keys(pinned.files)
    .filter((name) => manifest.files[name] !== pinned.files[name])
    .map((name) => ({
      file: "manifest.json",
      kind: "pin" as const,
      message: `manifest.json has a digest for ${name} that differs from the published one`,
    }));
}
