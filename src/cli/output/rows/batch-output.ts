import { open, stat, truncate } from "node:fs/promises";
import { fileFault, invalidOption } from "../../../errors.ts";

/** The destination of a batch's rows. */
export interface BatchOutput {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Standard output. The program ends if it cannot be written. */
export function standardOutput(stream: NodeJS.WriteStream): BatchOutput {
  return {
    write: (text) => new Promise((resolve) => stream.write(text, () => resolve())),
    async close() {},
  };
}

/**
 * A file that is written from byte `keptBytes` on.
 *
 * @throws ServiceError INVALID_OPTION if it cannot be written
 */
export async function fileOutput(file: string, keptBytes: number): Promise<BatchOutput> {
  try {
    const handle = await open(file, keptBytes === 0 ? "w" : "a");
    if (keptBytes > 0) await truncate(file, keptBytes);
    return {
      write: (text) => handle.appendFile(text),
      close: () => handle.close(),
    };
  } catch (cause) {
    throw invalidOption(
      `--output ${file} cannot be written: ${fileFault(cause, "its folder does not exist")}.`,
    );
  }
}

/**
 * Length of a file in bytes; undefined if it does not exist. @throws ServiceError INVALID_OPTION if it is not a regular
 * file
 */
export async function lengthOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && !found.isFile())
    throw invalidOption(`--output: expected a regular file or -, got ${file}, which is neither.`);
  return found?.size;
}
