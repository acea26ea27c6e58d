import { constants } from "node:fs";
import { access, type FileHandle, open, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileFault, invalidOption, ServiceError } from "../../errors.ts";

/**
 * Opens an output file. Called before long work, so that a wrong path fails at once.
 *
 * @param name undefined: no file
 * @throws ServiceError INVALID_OPTION
 */
export async function openOutput(name: string | undefined, flag: string): Promise<FileHandle | undefined> {
  if (name === undefined) return undefined;
  checkName(name, flag);
  return open(name, "w").catch((cause: unknown) => {
    throw unwritable(name, flag, cause);
  });
}

/** Checks that a file can be written, without changing it. @throws ServiceError INVALID_OPTION */
export async function checkWritable(flag: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  checkName(file, flag);
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw invalidOption(`${flag}: expected a file, got the folder ${file}.`);
  // with a trailing separator, so that a file in place of the folder fails
  await access(found ? file : path.dirname(file) + path.sep, constants.W_OK).catch((cause: unknown) => {
    throw unwritable(file, flag, cause);
  });
}

/** @throws ServiceError INTERNAL, such as on a full disk */
export async function writeOutput(flag: string, file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((cause: unknown) => {
    throw new ServiceError("INTERNAL", unwritable(file, flag, cause).message, { cause });
  });
}

/** @throws ServiceError INVALID_OPTION */
function checkName(file: string, flag: string): void {
  if (file === "") throw invalidOption(`${flag}: expected the name of a file, got "".`);
  if (file === "-") throw invalidOption(`${flag}: expected the name of a file, got standard output.`);
}

function unwritable(file: string, flag: string, cause: unknown): ServiceError {
  return invalidOption(
    `${flag} ${file} cannot be written: ${fileFault(cause, "its folder does not exist")}.`,
  );
}
