import { copyFile, mkdir, rename } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Copies what the compiler does not: Redoc's bundle and its licences, from the development dependency to dist/assets,
 * where src/server/redoc.ts looks for it. The published package thus needs no redoc.
 */
const FILES = ["redoc/bundles/redoc.standalone.js", "redoc/bundles/redoc.standalone.js.LICENSE.txt"];

const target = fileURLToPath(new URL("../dist/assets/", import.meta.url));
const require = createRequire(import.meta.url);

await mkdir(target, { recursive: true });
for (const file of FILES) {
  const copy = join(target, basename(file));
  // in one go: a service that runs from this folder may be reading it
  await copyFile(require.resolve(file), `${copy}.${process.pid}`);
  await rename(`${copy}.${process.pid}`, copy);
}
