import { copyFile, mkdir } from "node:fs/promises";
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
for (const file of FILES) await copyFile(require.resolve(file), join(target, basename(file)));
