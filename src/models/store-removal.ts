import { readdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { ServiceError } from "../errors.ts";
import { codeOf } from "./package-file.ts";
import { packageFolder } from "./store.ts";
import { takeLock } from "./store-lock.ts";

/**
 * Deletes what a pull has made of a model, finished or not.
 *
 * @param id `<namespace>/<name>@<revision>`
 * @returns the folders that are gone
 * @throws ServiceError PULL_FAILED when it is being pulled now, or cannot be deleted
 */
export async function removePulled(store: string, id: string): Promise<readonly string[]> {
  const folder = packageFolder(store, id);
  const parent = path.dirname(folder);
  const names = await readdir(parent).catch((): string[] => []);
  const gone = [folder, `${folder}.partial`].filter((made) => names.includes(path.basename(made)));
  if (gone.length === 0) return [];
  try {
    const { signal } = new AbortController();
    const lock = await takeLock(`${folder}.lock`, { signal, mayWait: false });
    if (!lock) throw failed(`${id} is being pulled at the moment.`);
    try {
      // first what says that the package is whole
      await rm(path.join(folder, "manifest.json"), { force: true });
      for (const made of gone) await rm(made, { recursive: true, force: true });
    } finally {
      await lock.release();
    }
    await rmdir(parent).catch(() => {}); // another revision may be there
    return gone;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw failed(`${folder} cannot be deleted (${codeOf(error) ?? error}).`, error);
  }
}

function failed(message: string, cause?: unknown): ServiceError {
  return new ServiceError("PULL_FAILED", message, { cause });
}
