import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { ServiceError } from "../errors.ts";
import { invalidOption } from "../options/resolve.ts";

/** The state from the command line; `-` reads standard input. @throws ServiceError INVALID_OPTION for an empty one */
export async function stateText(given: string): Promise<string> {
  if (given !== "-") return given;
  const state = await text(process.stdin);
  if (state.trim() === "") throw emptyInput("--state");
  return state;
}

export function emptyInput(flag: string): ServiceError {
  return invalidOption(`${flag} - reads standard input, which is empty: pipe or redirect a text into it.`);
}

/**
 * The state of `--state` or `--state-file`.
 *
 * @throws ServiceError INVALID_OPTION if the file cannot be read or is no text
 */
export async function givenState(flags: {
  readonly state?: string | undefined;
  readonly "state-file"?: string | undefined;
}): Promise<string> {
  const file = flags["state-file"];
  return file === undefined ? stateText(flags.state ?? "") : fileText(file, "--state-file");
}

/** A file in UTF-8, without a byte order mark. @throws ServiceError INVALID_OPTION naming the flag */
export async function fileText(file: string, flag: string): Promise<string> {
  const bytes = await readFile(file).catch((cause: Error) => {
    throw invalidOption(`${flag} cannot be read: ${cause.message}.`);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidOption(`${flag} takes a text file in UTF-8; some of the bytes of ${file} are not.`);
  }
}
