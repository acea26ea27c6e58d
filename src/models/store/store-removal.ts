import { readdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { codeOf, ServiceError } from "../../errors.ts";
import { packageFolder } from "./store.ts";
import { type LockPace, takeLock } from "./store-lock.ts";

/**
 * Deletes a pulled model, complete or not. If a lock exists, it waits until it is known whether that pull is alive.
 *
 * @param id `<namespace>/<name>@<revision>`
 * @param onWait called with the owner of the lock before waiting
 * @returns the removed folders
 * @throws ServiceError PULL_FAILED if it is being pulled or cannot be deleted
 */
export async function removePulled(
  store: string,
  id: string,
  { onWait, pace }: { readonly onWait?: (owner: string) => void; readonly pace?: LockPace } = {},
): Promise<readonly string[]> {
  const folder = packageFolder(store, id);
  const made = [folder, `${folder}.partial`];
  const lockFile = `${folder}.lock`;
  if ((await present([...made, lockFile])).length === 0) return [];
  try {
    const { signal } = new AbortController();
    const options = { signal, onWait, waitsForRelease: false, ...(pace ? { pace } : {}) };
    const lock = await takeLock(lockFile, options);
    if (!lock) throw failed(`${id} is being pulled.`);
    const gone = await deleteFolders(made).finally(() => lock.release());
    await rmdir(path.dirname(folder)).catch(() => {}); // another revision may exist
    return gone;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw failed(`${folder} cannot be deleted (${codeOf(error) ?? error}).`, error);
  }
}

async function deleteFolders(folders: readonly string[]): Promise<readonly string[]> {
  const there = await present(folders);
  for (const folder of there) {
    // first the manifest, which marks the package as complete
    await rm(path.join(folder, "manifest.json"), { force: true });
    await rm(folder, { recursive: true, force: true });
  }
  return there;
}

/** Those of the paths that exist; all are in one folder. */
async function present(paths: readonly string[]): Promise<readonly string[]> {
  const names = await readdir(path.dirname(paths[0] ?? "")).catch((): string[] => []);
  return paths.filter((each) => names.includes(path.basename(each)));
}

function failed(message: string, cause?: unknown): ServiceError {
  return new ServiceError("PULL_FAILED", message, { cause });
}
