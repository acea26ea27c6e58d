import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of package.json: above this file in a checkout, further up once compiled into dist/. */
export const packageRoot = findUp(path.dirname(fileURLToPath(import.meta.url)));

function findUp(folder: string): string {
  if (existsSync(path.join(folder, "package.json"))) return folder;
  return findUp(path.dirname(folder));
}

/** A JSON file of this package. @param name its path within the package */
export async function readPackageJson(name: string): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse(await readFile(path.join(packageRoot, name), "utf8"));
}
