import { open, stat, truncate } from "node:fs/promises";
import { fileFault, invalidOption, ServiceError } from "../../../errors.ts";

/** The destination of a batch's rows. */
export interface BatchOutput {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Standard output. The batch ends if its reader closes the pipe. */
export function standardOutput(stream: NodeJS.WriteStream): BatchOutput {
  const onError = () => {}; // each write reports the error as well
  stream.on("error", onError);
  return {
    write: (text) =>
      new Promise((resolve, reject) =>
        stream.write(text, (cause) =>
          cause
            ? reject(new ServiceError("CANCELLED", "the reader of standard output has closed it.", { cause }))
            : resolve(),
        ),
      ),
    async close() {
      stream.off("error", onError);
    },
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
    throw invalidOption(`--output must be a regular file or -; ${file} is neither.`);
  return found?.size;
}
