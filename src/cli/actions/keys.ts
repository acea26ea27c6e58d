import { existsSync } from "node:fs";
import { invalidOption } from "../../errors.ts";
import { changeKeyFile } from "../../keys/change-key-file.ts";
import { checkKeyName, createKey, digestOf, type KeyEntry } from "../../keys/key-file.ts";
import { readKeyFile } from "../../keys/key-ring.ts";

/** A key that was added to a file. */
export interface AddedKey {
  /** Shown only once. */
  readonly key: string;
  /** Whether the file was created. */
  readonly isNewFile: boolean;
}

/** Adds a key to a file, and creates the file if it does not exist. @throws ServiceError INVALID_OPTION | INTERNAL */
export async function addKey(file: string, entry: Omit<KeyEntry, "digest">): Promise<AddedKey> {
  checkKeyName(entry.name);
  const key = createKey();
  const isNewFile = await changeKeyFile(file, (entries) => {
    if (entries.some(({ name }) => name === entry.name))
      throw invalidOption(`${file} has a key of this name: revoke it first, or choose another.`);
    return [...entries, { ...entry, digest: digestOf(key) }];
  });
  return { key, isNewFile };
}

/** @throws ServiceError INVALID_OPTION | INTERNAL */
export async function revokeKey(file: string, name: string): Promise<void> {
  if (!existsSync(file)) readKeyFile(file); // says what is wrong with it
  await changeKeyFile(file, (entries) => {
    const kept = entries.filter((entry) => entry.name !== name);
    if (kept.length < entries.length) return kept;
    throw invalidOption(`${file} has no key of this name: \`decision keys list\` shows the names.`);
  });
}
