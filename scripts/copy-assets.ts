import { copyFile, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Copies what the compiler does not to dist/assets: for src/server/redoc.ts Redoc's bundle and its licences, for
 * bench/report/page.ts the chart library and the page's own script and style. The published package thus needs neither
 * of these development dependencies.
 */
const FILES = ["redoc/bundles/redoc.standalone.js", "redoc/bundles/redoc.standalone.js.LICENSE.txt"];
const BENCH_PAGE = ["page.js", "page.css"];

const target = fileURLToPath(new URL("../dist/assets/", import.meta.url));
const require = createRequire(import.meta.url);

await mkdir(target, { recursive: true });
for (const file of FILES) await copyFile(require.resolve(file), join(target, basename(file)));
const charts = join(dirname(require.resolve("uplot")), "..");
for (const file of ["dist/uPlot.iife.min.js", "dist/uPlot.min.css"])
  await copyFile(join(charts, file), join(target, basename(file)));
await copyFile(join(charts, "LICENSE"), join(target, "uPlot.LICENSE.txt"));
for (const file of BENCH_PAGE) {
  await copyFile(new URL(`../bench/report/${file}`, import.meta.url), join(target, `bench-${file}`));
}
