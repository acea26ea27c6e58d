import { type FileHandle, open } from "node:fs/promises";
import { ServiceError } from "../../errors.ts";

/**
 * Opens a file for what a command finds out: before the work, since minutes of it must not end at a folder that is not there.
 *
 * @param name undefined: nobody wants one
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
