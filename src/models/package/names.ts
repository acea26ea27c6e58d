/**
 * A namespace, or a name in it, as the hub allows them: letters and digits, with single dots and hyphens between. So no name holds a
 * separator of any system or `..`, and `<namespace>--<name>` belongs to one model only.
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

/** Windows takes these for devices, whatever follows their first dot, and drops a dot at the end. */
const UNUSABLE_ON_WINDOWS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|\.$/i;

/** Whether it names a file of a folder, and nothing outside it. */
export function isPlainFileName(name: string): boolean {
  return name.length <= MAX_FILE_NAME_LENGTH && new RegExp(FILE_NAME_PATTERN).test(name);
}

/**
 * What is wrong with the names of a package's files beyond their characters: each as the end of a sentence that begins with the
 * manifest's name.
 */
export function fileNameFaults(names: readonly string[]): readonly string[] {
  const faults: string[] = [];
  const seen = new Map<string, string>([["manifest.json", "manifest.json"]]);
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other === undefined) seen.set(name.toLowerCase(), name);
    else if (other === name) faults.push(`names itself in /files`);
    else faults.push(`names in /files both ${other} and ${name}, one file where case does not count`);
    if (UNUSABLE_ON_WINDOWS.test(name)) faults.push(`names in /files ${name}, which is no file on Windows`);
  }
  return faults;
}
