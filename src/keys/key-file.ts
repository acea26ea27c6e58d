import { createHash, randomBytes } from "node:crypto";
import { ServiceError } from "../errors.ts";

/** One key of a file. The key itself is nowhere: who has it can show it. */
export interface KeyEntry {
  /** For people and logs. */
  readonly name: string;
  /** SHA-256 of the key's UTF-8, 64 hexadecimal digits. */
  readonly digest: string;
  /** Undefined: without bound. */
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
}

const NAME = /^[A-Za-z0-9._-]{1,64}$/;
const DIGEST = /^sha256:([0-9a-f]{64})$/;
const RATE = /^(requests|tokens)=([1-9]\d{0,11})$/;
const HEADER =
  "# Keys of `decision serve`: name, digest of the key, and bounds for a minute. Written by `decision keys`.\n";

/**
 * Reads a file of keys. One key a line; empty lines and those that begin with # are left out:
 *
 *     web sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 requests=600 tokens=200000
 *
 * @throws ServiceError INVALID_OPTION naming the line, never its content
 */
export function parseKeyFile(text: string, file: string): readonly KeyEntry[] {
  // also what a reader sees while another program writes the file in place: no reason to forget all keys
  if (text.trim() === "") throw invalid(`${file} is empty: expected a line for each key, or a comment.`);
  const entries: KeyEntry[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const entry = parseLine(line);
    const place = `line ${index + 1} of ${file}`;
    if (entry === undefined)
      throw invalid(
        `${place} is no key: expected a name, sha256:<64 digits>, and requests=<n> or tokens=<n>.`,
      );
    if (entries.some(({ name }) => name === entry.name))
      throw invalid(`${place} has a name that came before.`);
    if (entries.some(({ digest }) => digest === entry.digest))
      throw invalid(`${place} has a key that came before.`);
    entries.push(entry);
  }
  return entries;
}

function parseLine(line: string): KeyEntry | undefined {
  const [name = "", hash = "", ...rates] = line.trim().split(/\s+/);
  const digest = DIGEST.exec(hash)?.[1];
  if (!NAME.test(name) || digest === undefined) return undefined;
  const bounds: { requests?: number; tokens?: number } = {};
  for (const rate of rates) {
    const [, what, count] = RATE.exec(rate) ?? [];
    if ((what !== "requests" && what !== "tokens") || bounds[what] !== undefined) return undefined;
    bounds[what] = Number(count);
  }
  return { name, digest, requestsPerMinute: bounds.requests, tokensPerMinute: bounds.tokens };
}

/** The text of a file of keys. */
export function writeKeyFile(entries: readonly KeyEntry[]): string {
  return HEADER + entries.map((entry) => `${lineOf(entry)}\n`).join("");
}

function lineOf({ name, digest, requestsPerMinute, tokensPerMinute }: KeyEntry): string {
  const requests = requestsPerMinute === undefined ? "" : ` requests=${requestsPerMinute}`;
  const tokens = tokensPerMinute === undefined ? "" : ` tokens=${tokensPerMinute}`;
  return `${name} sha256:${digest}${requests}${tokens}`;
}

/** A new key of 256 random bits. It needs no slow hash: nobody can try them all. */
export function createKey(): string {
  return `dk_${randomBytes(32).toString("base64url")}`;
}

/** @param key its bytes, or its text in UTF-8 */
export function digestOf(key: string | Uint8Array): string {
  return createHash("sha256").update(key).digest("hex");
}

/** @throws ServiceError INVALID_OPTION */
export function checkKeyName(name: string): void {
  if (!NAME.test(name))
    throw invalid("The name of a key has 1 to 64 letters, digits, dots, underscores and hyphens.");
}

function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_OPTION", message);
}
