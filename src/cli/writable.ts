import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import path from "node:path";
import { invalidOption } from "../options/resolve.ts";

/** Before the work, so that a wrong path does not waste minutes. @throws ServiceError INVALID_OPTION */
export async function checkWritable(flag: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw invalidOption(`${flag} takes a file; ${file} is a folder.`);
  await access(found ? file : path.dirname(file), constants.W_OK).catch((cause: Error) => {
    throw invalidOption(`${flag} cannot be written: ${cause.message}.`);
  });
}
