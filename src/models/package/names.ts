/**
 * A namespace or a name as the hub allows them: letters, digits and `_`, with single dots and hyphens between. So no
 * name contains `..` or a path separator of any system, and `<namespace>--<name>` is unique to a model.
 */
const PART = "[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*";
/** `<namespace>/<name>` */
export const REPOSITORY_PATTERN = `^${PART}/${PART}$`;
/** `<namespace>/<name>@<revision>` */
export const ID_PATTERN = `^${PART}/${PART}@[0-9a-f]{40}$`;
/** The hub's own bound is 96 for each part. */
export const MAX_REPOSITORY_LENGTH = 193;
export const MAX_ID_LENGTH = MAX_REPOSITORY_LENGTH + 41;
/** No control characters: such texts are printed on terminals. */
export const PRINTABLE_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/** Whether it is `<namespace>/<name>`. */
export function isRepository(text: string): boolean {
  return text.length <= MAX_REPOSITORY_LENGTH && new RegExp(REPOSITORY_PATTERN).test(text);
}

/** Whether it is `<namespace>/<name>@<revision>`. */
export function isModelId(text: string): boolean {
  return text.length <= MAX_ID_LENGTH && new RegExp(ID_PATTERN).test(text);
}

export const FILE_NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]*$";
export const MAX_FILE_NAME_LENGTH = 255;

/** On Windows these are devices, whatever follows their first dot, and a trailing dot is dropped. */
const UNUSABLE_ON_WINDOWS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|\.$/i;

/** Whether the name is a file name without a path. */
export function isPlainFileName(name: string): boolean {
  return name.length <= MAX_FILE_NAME_LENGTH && new RegExp(FILE_NAME_PATTERN).test(name);
}

/**
 * Faults of the names of a package's files that do not concern single characters. Each is the end of a sentence that
 * begins with the name of the manifest.
 */
export function fileNameFaults(names: readonly string[]): readonly string[] {
  const faults: string[] = [];
  const seen = new Map<string, string>([["manifest.json", "manifest.json"]]);
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other === undefined) seen.set(name.toLowerCase(), name);
    else if (other === name) faults.push(`lists itself in /files`);
    else
      faults.push(
        `lists ${other} and ${name} in /files, which are the same file on case-insensitive file systems`,
      );
    if (UNUSABLE_ON_WINDOWS.test(name))
      faults.push(`lists ${name} in /files, which is not a file name on Windows`);
  }
  return faults;
}
