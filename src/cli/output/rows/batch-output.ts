import { open, stat, truncate } from "node:fs/promises";
import { fileFault, invalidOption, ServiceError } from "../../../errors.ts";

/** Where the rows of a batch go. */
export interface BatchOutput {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Standard output. A reader that has gone ends the batch. */
export function standardOutput(stream: NodeJS.WriteStream): BatchOutput {
  const onError = () => {}; // each write is told as well
  stream.on("error", onError);
  return {
    write: (text) =>
      new Promise((resolve, reject) =>
        stream.write(text, (cause) =>
          cause
            ? reject(new ServiceError("CANCELLED", "nobody reads standard output any more.", { cause }))
            : resolve(),
        ),
      ),
    async close() {
      stream.off("error", onError);
    },
  };
}

/**
 * A file, from `keptBytes` on.
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

/** Its length; undefined if there is no such file. @throws ServiceError INVALID_OPTION if it is no regular file */
export async function lengthOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && !found.isFile())
    throw invalidOption(`--output takes a file or -; ${file} is something else.`);
  return found?.size;
}
