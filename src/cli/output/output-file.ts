import { type FileHandle, open } from "node:fs/promises";
import { ServiceError } from "../../errors.ts";

/**
 * Opens an output file. Called before the work, so that a wrong path does not waste minutes.
 *
 * @param name undefined if no file is wanted
 * @throws ServiceError INVALID_OPTION
 */
export async function openOutput(name: string | undefined, flag: string): Promise<FileHandle | undefined> {
  if (name === undefined) return undefined;
  try {
    return await open(name, "w");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError("INVALID_OPTION", `${flag} cannot be written: ${reason}.`, { cause });
  }
}
