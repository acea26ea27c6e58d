import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, fileFault, invalidOption, ServiceError } from "../errors.ts";
import { checkKeyName, createKey, digestOf, type KeyEntry, writeKeyFile } from "./key-file.ts";
import { readKeyFile } from "./key-ring.ts";

/** How long a command waits for another one that changes the same file. Chosen: a change takes some milliseconds. */
const PATIENCE = { tries: 40, pauseMs: 50 };
/** Of a new file. */
const OWN_MODE = 0o600;

export interface ChangePace {
  readonly tries: number;
  readonly pauseMs: number;
}

/**
 * Changes a file of keys, and creates it if there is none. Symbolic links are followed. The file keeps its owner, group
 * and mode, so that a service that could read it still can. It is replaced at once: nobody ever reads a part of it.
 *
 *     keys.txt.lock: created, unless another change has it ─▶ keys.txt is read and changed ─▶ written ─▶ renamed to
 *     keys.txt
 *
 * @param change from the keys in the file; what it throws leaves the file as it is
 * @returns whether the file is new
 * @throws ServiceError INVALID_OPTION | INTERNAL (the file cannot be written)
 */
export async function changeKeyFile(
  file: string,
  change: (entries: readonly KeyEntry[]) => readonly KeyEntry[],
  pace: ChangePace = PATIENCE,
): Promise<boolean> {
  const target = followed(file);
  const draft = `${target}.lock`;
  const descriptor = await openDraft(draft, file, pace);
  try {
    const before = statSync(target, { throwIfNoEntry: false });
    try {
      const entries = change(before === undefined ? [] : readKeyFile(target));
      if (before !== undefined) keepAccess(descriptor, before, file);
      writeFileSync(descriptor, writeKeyFile(entries));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, target);
    return before === undefined;
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause instanceof ServiceError ? cause : unwritable(file, cause);
  }
}

/** The file itself, also behind symbolic links. @throws ServiceError INTERNAL for a link to nothing */
function followed(file: string): string {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return file;
  try {
    return realpathSync(file);
  } catch (cause) {
    throw unwritable(file, cause, "it is a symbolic link to a file that does not exist");
  }
}

/** @throws ServiceError INTERNAL if the draft cannot be created, or stays there for too long */
async function openDraft(draft: string, file: string, { tries, pauseMs }: ChangePace): Promise<number> {
  for (let left = tries; ; left--) {
    try {
      return openSync(draft, "wx", OWN_MODE);
    } catch (cause) {
      const isThere = codeOf(cause) === "EEXIST";
      if (!isThere) throw unwritable(file, cause);
      if (left <= 1) throw busy(file, draft);
    }
    await sleep(pauseMs);
  }
}

/** @throws ServiceError INTERNAL if this user may not give the file to its owner */
function keepAccess(descriptor: number, { uid, gid, mode }: Stats, file: string): void {
  const own = fstatSync(descriptor);
  try {
    if (own.uid !== uid || own.gid !== gid) fchownSync(descriptor, uid, gid);
    fchmodSync(descriptor, mode & 0o7777); // after the owner, whose change may clear bits
  } catch (cause) {
    throw new ServiceError(
      "INTERNAL",
      `the file of keys ${file} was not changed: this user cannot keep its owner and group (${uid}:${gid}), so a service ` +
        "might not be able to read it. Run the command as its owner or as root.",
      { cause },
    );
  }
}

function busy(file: string, draft: string): ServiceError {
  return new ServiceError(
    "INTERNAL",
    `the file of keys ${file} was not changed: another command is changing it, or has ended before it was done. If none runs, ` +
      `remove ${draft}.`,
  );
}

function unwritable(file: string, cause: unknown, missing = "its folder does not exist"): ServiceError {
  const reason = fileFault(cause, missing);
  return new ServiceError("INTERNAL", `the file of keys ${file} cannot be written: ${reason}.`, { cause });
}

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
