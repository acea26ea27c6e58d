import { rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { codeOf, ServiceError } from "../../errors.ts";
import { packageFolder } from "./store.ts";

/**
 * Deletes a pulled model, complete or not.
 *
 * @param id `<namespace>/<name>@<revision>`
 * @returns the removed folders
 * @throws ServiceError PULL_FAILED if it cannot be deleted
 */
export async function removePulled(store: string, id: string): Promise<readonly string[]> {
  const folder = packageFolder(store, id);
  try {
    // first the manifest, which marks the package as complete
    await rm(path.join(folder, "manifest.json"), { force: true });
    await rm(folder, { recursive: true });
    await rmdir(path.dirname(folder)).catch(() => {}); // another revision may exist
    return [folder];
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return [];
    throw new ServiceError("PULL_FAILED", `${folder} cannot be deleted (${code ?? error}).`, {
      cause: error,
    });
  }
}
