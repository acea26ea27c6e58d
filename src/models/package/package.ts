import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileFault, invalidModel, ServiceError } from "../../errors.ts";
import type { ModelFacts } from "../../inference/engine.ts";
import { utf8Text } from "../../utf8.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { digestOf, locateFile } from "./package-file.ts";

/** A model package whose files match its manifest. */
export interface ModelPackage {
  readonly folder: string;
  readonly manifest: Manifest;
}

/**
 * Opens a model package and checks every file's digest, and the revision over them.
 *
 * @throws ServiceError INVALID_MODEL naming a file that is missing, changed, or outside the folder
 */
export async function openModelPackage(folder: string): Promise<ModelPackage> {
  const manifest = await openManifest(folder);
  const checks = Object.entries(manifest.files).map(([name, sha256]) => verifyFile(folder, name, sha256));
  // allSettled: always reports the same one of several faults, and leaves no promise unhandled
  for (const check of await Promise.allSettled(checks)) if (check.status === "rejected") throw check.reason;
  const fault = revisionFault(manifest);
  if (fault !== undefined) throw invalidModel(`manifest.json in ${folder} ${fault}.`);
  return { folder, manifest };
}

/** Reads only the folder's manifest. @throws ServiceError INVALID_MODEL */
export async function openManifest(folder: string): Promise<Manifest> {
  return readManifest(await readManifestText(folder), path.join(folder, "manifest.json"));
}

/** @throws ServiceError INVALID_MODEL if it is not a file of the folder, larger than a manifest may be, or no UTF-8 */
export async function readManifestText(folder: string): Promise<string> {
  return textOf(await readBytes(folder, "manifest.json"), `manifest.json in ${folder}`);
}

/** The fault of the manifest's id, as the end of a sentence. */
export function revisionFault({ id, files, origin }: Manifest): string | undefined {
  const revision = origin?.revision ?? revisionOf(files);
  if (id.endsWith(`@${revision}`)) return undefined;
  const what = origin ? "the commit in /origin" : "the digest of /files";
  return `has the wrong revision in /id: id must end with @${revision}, ${what}`;
}

/**
 * Reads one of the package's files and checks these bytes against the manifest.
 *
 * @throws ServiceError INVALID_MODEL when it is missing or changed
 */
export async function readPackageFile({ folder, manifest }: ModelPackage, name: string): Promise<Uint8Array> {
  const bytes = await readBytes(folder, name);
  checkDigest(folder, name, createHash("sha256").update(bytes).digest("hex"), manifest.files[name]);
  return bytes;
}

/** The same as text. */
export async function readPackageText(modelPackage: ModelPackage, name: string): Promise<string> {
  return textOf(await readPackageFile(modelPackage, name), name);
}

function textOf(bytes: Uint8Array, file: string): string {
  return utf8Text(bytes, (fault) => invalidModel(`${file} ${fault}.`));
}

/** First 40 hex digits of the SHA-256 over `<sha256>  <file name>\n`, sorted by name. */
export function revisionOf(files: Readonly<Record<string, string>>): string {
  const lines = Object.keys(files)
    .sort()
    .map((name) => `${files[name]}  ${name}\n`);
  return createHash("sha256").update(lines.join("")).digest("hex").slice(0, 40);
}

/**
 * All names of a model except its id: the id without revision, the bare name, the aliases. A package without an alias
 * has the bare name in lower case as its short one.
 */
export function otherNames({ id, aliases }: Pick<Manifest, "id" | "aliases">): readonly string[] {
  const [withoutRevision = ""] = id.split("@");
  const bareName = withoutRevision.slice(withoutRevision.indexOf("/") + 1);
  const shortNames = aliases.length > 0 ? aliases : [bareName.toLowerCase()];
  return [...new Set([withoutRevision, bareName, ...shortNames])];
}

/** The facts of a package that the service needs. */
export function modelFacts({ manifest }: ModelPackage, operatorAliases: readonly string[] = []): ModelFacts {
  return {
    id: manifest.id,
    revision: manifest.id.slice(manifest.id.indexOf("@") + 1),
    aliases: [...new Set([...otherNames(manifest), ...operatorAliases])],
    version: manifest.version,
    releaseDate: manifest.release_date,
    description: manifest.description,
    temperature: manifest.temperature,
    showsLabels: manifest.shows_labels,
    isReranker: "reads" in manifest.architecture && manifest.architecture.reads === "relevance",
    limits: {
      maxStateQuestionTokens: manifest.limits.max_state_question_tokens,
      maxCandidateTokens: manifest.limits.max_candidate_tokens,
    },
  };
}

async function readBytes(folder: string, name: string): Promise<Uint8Array> {
  const file = await packagePath(folder, name);
  return readFile(file).catch((cause: unknown) => {
    throw unreadable(folder, name, cause);
  });
}

async function verifyFile(folder: string, name: string, expected: string): Promise<void> {
  const found = await digestOf(await packagePath(folder, name)).catch((cause: unknown) => {
    throw cause instanceof ServiceError ? cause : unreadable(folder, name, cause);
  });
  checkDigest(folder, name, found, expected);
}

/** Path of one of the package's files. @throws ServiceError INVALID_MODEL if it is not a file of the folder */
export async function packagePath(folder: string, name: string): Promise<string> {
  const located = await locateFile(folder, name);
  if (located.fault === undefined) return located.path;
  throw invalidModel(`${name} in ${folder} cannot be read: it ${located.why}.`);
}

function checkDigest(folder: string, name: string, found: string, expected = "none"): void {
  if (found === expected) return;
  throw invalidModel(
    `${name} in ${folder} does not match the manifest: its SHA-256 is ${found}, expected ${expected}.`,
  );
}

function unreadable(folder: string, name: string, cause: unknown): ServiceError {
  return invalidModel(`${name} in ${folder} cannot be read: ${fileFault(cause)}.`, cause);
}
