import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileFault, ServiceError } from "../../errors.ts";
import { checkKeyName, createKey, digestOf, type KeyEntry, writeKeyFile } from "../../keys/key-file.ts";
import { readKeyFile } from "../../keys/key-ring.ts";

/** Adds a key to a file, which is made where there is none. @returns the key: it is shown once @throws ServiceError INVALID_OPTION */
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

/** In one step: a service that reads it meanwhile finds the old file or the new one. */
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
