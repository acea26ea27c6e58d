import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of package.json: above this file in a checkout, further up once compiled into dist/. */
export const packageRoot = findUp(path.dirname(fileURLToPath(import.meta.url)));

function findUp(folder: string): string {
  if (existsSync(path.join(folder, "package.json"))) return folder;
  return findUp(path.dirname(folder));
}
