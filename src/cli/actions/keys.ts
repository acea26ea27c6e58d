import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileFault, ServiceError } from "../../errors.ts";
import { checkKeyName, createKey, digestOf, type KeyEntry, writeKeyFile } from "../../keys/key-file.ts";
import { readKeyFile } from "../../keys/key-ring.ts";

/**
 * Adds a key to a file, and creates the file if it does not exist. @returns the key, which is shown only once @throws
 * ServiceError INVALID_OPTION
 */
export function addKey(file: string, entry: Omit<KeyEntry, "digest">): string {
  checkKeyName(entry.name);
  const entries = existsSync(file) ? readKeyFile(file) : [];
  if (entries.some(({ name }) => name === entry.name))
    throw new ServiceError(
      "INVALID_OPTION",
      `${file} has a key of this name: revoke it first, or choose another.`,
    );
  const key = createKey();
  replaceFile(file, [...entries, { ...entry, digest: digestOf(key) }]);
  return key;
}

/** @throws ServiceError INVALID_OPTION */
export function revokeKey(file: string, name: string): void {
  const entries = readKeyFile(file);
  const kept = entries.filter((entry) => entry.name !== name);
  if (kept.length === entries.length)
    throw new ServiceError(
      "INVALID_OPTION",
      `${file} has no key of this name: \`decision keys list\` shows the names.`,
    );
  replaceFile(file, kept);
}

/** Replaces the file atomically, so that a service never reads a partial one. */
function replaceFile(file: string, entries: readonly KeyEntry[]): void {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, writeKeyFile(entries), { mode: 0o600, flag: "wx" });
    renameSync(draft, file);
  } catch (cause) {
    rmSync(draft, { force: true });
    const reason = fileFault(cause, "its folder does not exist");
    throw new ServiceError("INTERNAL", `the file of keys ${file} cannot be written: ${reason}.`, { cause });
  }
}
