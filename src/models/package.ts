import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { ServiceError } from "../errors.ts";
import type { ModelFacts } from "../inference/ports.ts";
import { type Manifest, readManifest } from "./manifest.ts";

/** A model package whose files are what its manifest says. */
export interface ModelPackage {
  readonly folder: string;
  readonly manifest: Manifest;
}

/**
 * Opens a model package and checks every file's digest, and the revision over them.
 *
 * @throws ServiceError INVALID_MODEL naming the file that is missing or changed
 */
export async function openModelPackage(folder: string): Promise<ModelPackage> {
  const manifest = readManifest(await readText(folder, "manifest.json"), path.join(folder, "manifest.json"));
  await Promise.all(Object.entries(manifest.files).map(([name, sha256]) => verifyFile(folder, name, sha256)));
  const revision = manifest.origin?.revision ?? revisionOf(manifest.files);
  if (!manifest.id.endsWith(`@${revision}`)) {
    throw new ServiceError(
      "INVALID_MODEL",
      `manifest.json: id must end with @${revision}, the package's revision.`,
    );
  }
  return { folder, manifest };
}

/**
 * Reads one of the package's files and checks that its very bytes are the ones that the manifest names.
 *
 * @throws ServiceError INVALID_MODEL when it is missing or changed
 */
export async function readPackageFile({ folder, manifest }: ModelPackage, name: string): Promise<Uint8Array> {
  const bytes = await readFile(path.join(folder, name)).catch((cause: unknown) => {
    throw unreadable(folder, name, cause);
  });
  checkDigest(folder, name, createHash("sha256").update(bytes).digest("hex"), manifest.files[name]);
  return bytes;
}

/** First 40 hex digits of the SHA-256 over `<sha256>  <file name>\n`, sorted by name. */
export function revisionOf(files: Readonly<Record<string, string>>): string {
  const lines = Object.keys(files)
    .sort()
    .map((name) => `${files[name]}  ${name}\n`);
  return createHash("sha256").update(lines.join("")).digest("hex").slice(0, 40);
}

/** What the rest of the service needs to know of a package. */
export function modelFacts({ manifest }: ModelPackage, operatorAliases: readonly string[] = []): ModelFacts {
  const [withoutRevision = "", revision = ""] = manifest.id.split("@");
  const bareName = withoutRevision.slice(withoutRevision.indexOf("/") + 1);
  return {
    id: manifest.id,
    revision,
    aliases: [...new Set([withoutRevision, bareName, ...manifest.aliases, ...operatorAliases])],
    version: manifest.version,
    releaseDate: manifest.release_date,
    description: manifest.description,
    temperature: manifest.temperature,
    showsLabels: manifest.shows_labels,
    limits: {
      maxStateQuestionTokens: manifest.limits.max_state_question_tokens,
      maxCandidateTokens: manifest.limits.max_candidate_tokens,
    },
  };
}

async function readText(folder: string, name: string): Promise<string> {
  return readFile(path.join(folder, name), "utf8").catch((cause: unknown) => {
    throw unreadable(folder, name, cause);
  });
}

async function verifyFile(folder: string, name: string, expected: string): Promise<void> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path.join(folder, name), { highWaterMark: 1 << 20 }), hash).catch(
    (cause: unknown) => {
      throw unreadable(folder, name, cause);
    },
  );
  checkDigest(folder, name, hash.digest("hex"), expected);
}

function checkDigest(folder: string, name: string, found: string, expected = "none"): void {
  if (found === expected) return;
  throw new ServiceError(
    "INVALID_MODEL",
    `${name} in ${folder} is not the file of this package: its SHA-256 is ${found}, expected ${expected}.`,
  );
}

function unreadable(folder: string, name: string, cause: unknown): ServiceError {
  return new ServiceError("INVALID_MODEL", `${name} cannot be read in ${folder}: a model package holds it.`, {
    cause,
  });
}
