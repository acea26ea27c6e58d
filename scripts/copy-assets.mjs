import { copyFile, mkdir, rename } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Copies assets to dist/assets: Redoc's bundle and licences for src/server/routes/pages/redoc.ts, and the chart library, script and
 * style for bench/report/page.ts. So the published package needs none of these development dependencies.
 */
const FILES = ["redoc/bundles/redoc.standalone.js", "redoc/bundles/redoc.standalone.js.LICENSE.txt"];
const BENCH_PAGE = ["page.js", "page.css"];

const target = fileURLToPath(new URL("../dist/assets", import.meta.url));
const require = createRequire(import.meta.url);

await mkdir(target, { recursive: true });
for (const file of FILES) await copy(require.resolve(file), basename(file));
const charts = join(dirname(require.resolve("uplot")), "..");
for (const file of ["uPlot.iife.min.js", "uPlot.min.css"]) await copy(join(charts, "dist", file), file);
await copy(join(charts, "LICENSE"), "uPlot.LICENSE.txt");
for (const file of BENCH_PAGE) {
  await copy(fileURLToPath(new URL(`../bench/report/${file}`, import.meta.url)), `bench-${file}`);
}

/** Replaces a file atomically, because a running service may be reading it. */
async function copy(from, name) {
  const fresh = join(target, `${name}.${process.pid}`);
  await copyFile(from, fresh);
  await rename(fresh, join(target, name));
}
