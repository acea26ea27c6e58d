import { readdir, readFile } from "node:fs/promises";
import { fileFault, invalidModel } from "../../errors.ts";
import { isRecord } from "../../records.ts";
import { utf8Text } from "../../utf8.ts";
import { isPlainFileName } from "./names.ts";
import { digestOf, locateFile } from "./package-file.ts";

/** The names in a folder that is no package yet. @throws ServiceError INVALID_MODEL */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    throw invalidModel(`${folder} cannot be read: ${fileFault(error, "there is no such folder")}.`, error);
  }
}

/**
 * Checks that no name refers to a file outside the folder.
 * @throws ServiceError INVALID_MODEL with the name that does
 */
export function plainNames(names: readonly string[], where: string): readonly string[] {
  const other = names.find((name) => !isPlainFileName(name));
  if (other === undefined) return names;
  throw invalidModel(`${where} contains a file name with a folder or special characters: ${shown(other)}.`);
}

/** SHA-256 of files of the folder, by name. @throws ServiceError INVALID_MODEL */
export async function digests(folder: string, names: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names.toSorted()) {
    const located = await locateFile(folder, name);
    if (located.fault !== undefined) throw invalidModel(`${name} in ${folder} ${located.why}.`);
    found[name] = await digestOf(located.path);
  }
  return found;
}

/** A JSON object in a file of the folder. @throws ServiceError INVALID_MODEL */
export async function readRecord(folder: string, name: string): Promise<Record<string, unknown>> {
  const located = await locateFile(folder, name);
  if (located.fault !== undefined) throw invalidModel(`${name} in ${folder} ${located.why}.`);
  const bytes = await readFile(located.path);
  const text = utf8Text(bytes, (fault) => invalidModel(`${name} in ${folder} ${fault}.`));
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch (error) {
    throw invalidModel(`${name} in ${folder} is not JSON.`, error);
  }
  throw invalidModel(`${name} in ${folder} is not a JSON object.`);
}

/** A whole number in a file, or another one in its place. */
export const count = (value: unknown, otherwise: number) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : otherwise;

/** A value of a file as a message shows it: strings in quotes, of other values only the type. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  return value === undefined ? "none" : typeof value;
}
