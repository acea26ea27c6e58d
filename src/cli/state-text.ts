import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { fileFault, invalidOption, type ServiceError } from "../errors.ts";
import { utf8Text } from "../utf8.ts";

/** The state from the command line; `-` reads standard input. @throws ServiceError INVALID_OPTION for an empty one */
export async function stateText(given: string): Promise<string> {
  return given === "-" ? fileText("-", "--state") : given;
}

export function emptyInput(flag: string): ServiceError {
  return invalidOption(`${flag} - reads standard input, which is empty: pipe or redirect a text into it.`);
}

/** Standard input, for a flag with the value `-`. @throws ServiceError INVALID_OPTION if another flag has read it */
export function standardInput(flag: string): Readable {
  if (process.stdin.readableDidRead)
    throw invalidOption(
      `${flag} - reads standard input, which another flag has already read: only one flag can be "-".`,
    );
  return process.stdin;
}

/**
 * The state of `--state` or `--state-file`.
 *
 * @throws ServiceError INVALID_OPTION if the file cannot be read or is not text
 */
export async function givenState(flags: {
  readonly state?: string | undefined;
  readonly "state-file"?: string | undefined;
}): Promise<string> {
  const file = flags["state-file"];
  return file === undefined ? stateText(flags.state ?? "") : fileText(file, "--state-file");
}

/**
 * The text of a UTF-8 file, without a byte order mark; `-` is standard input. @throws ServiceError INVALID_OPTION that
 * names the flag
 */
export async function fileText(file: string, flag: string): Promise<string> {
  const bytes = file === "-" ? await buffer(standardInput(flag)) : await fileBytes(file, flag);
  const text = utf8Text(bytes, (fault) =>
    invalidOption(`${flag}: ${file === "-" ? "standard input" : file} ${fault}.`),
  );
  if (text.trim() !== "") return text;
  throw file === "-"
    ? emptyInput(flag)
    : invalidOption(`${flag}: expected a file with text, got an empty one: ${file}.`);
}

function fileBytes(file: string, flag: string): Promise<Buffer> {
  if (file === "") throw invalidOption(`${flag}: expected the name of a file, got "".`);
  return readFile(file).catch((cause: unknown) => {
    throw invalidOption(`${flag} ${file} cannot be read: ${fileFault(cause)}.`);
  });
}
