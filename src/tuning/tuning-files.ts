import { readFile, stat } from "node:fs/promises";
import { fileFault, invalidOption, ServiceError } from "../errors.ts";
import { utf8Text } from "../utf8.ts";
import type { NamedTuning } from "./tuning.ts";
import { MAX_TUNING_BYTES, readTuning } from "./tuning-file.ts";

/**
 * @param flag what messages call the option
 * @throws ServiceError INVALID_OPTION for a file that cannot be read or is none of `decision tune`
 */
export async function readTuningFiles(
  files: readonly string[],
  flag = "--tuning",
): Promise<readonly NamedTuning[]> {
  const tunings: NamedTuning[] = [];
  for (const name of files) tunings.push({ name, file: readTuning(await textOf(name, flag), name, flag) });
  return tunings;
}

async function textOf(file: string, flag: string): Promise<string> {
  const bytes = await bytesOf(file, flag);
  return utf8Text(bytes, (fault) => invalidOption(`${flag} ${file} ${fault}.`));
}

async function bytesOf(file: string, flag: string): Promise<Buffer> {
  try {
    if ((await stat(file)).size > MAX_TUNING_BYTES)
      throw new Error(`it has more than ${MAX_TUNING_BYTES} bytes`);
    return await readFile(file);
  } catch (cause) {
    throw new ServiceError("INVALID_OPTION", `${flag} ${file} cannot be read: ${fileFault(cause)}.`, {
      cause,
    });
  }
}
