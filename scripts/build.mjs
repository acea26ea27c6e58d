// Compiles src, handlers, generated and bench into dist/, and copies the assets of the pages.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const require = createRequire(import.meta.url);

function run(...args) {
  // tools print to stderr, because stdout belongs to the command that is started
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/** Removes outputs of sources that were moved or deleted. */
function removeStale(folder) {
  if (!existsSync(path.join(root, "dist", folder))) return;
  for (const file of readdirSync(path.join(root, "dist", folder), { recursive: true })) {
    const source = path.join(root, folder, file.replace(/(\.d)?\.[jt]s$/, ".ts"));
    if (/\.[jt]s$/.test(file) && !existsSync(source)) rmSync(path.join(root, "dist", folder, file));
  }
}

for (const folder of ["src", "handlers", "generated", "bench"]) removeStale(folder);
run(require.resolve("typescript/bin/tsc"), "-p", "tsconfig.build.json");
run("--import", "tsx", "scripts/copy-assets.ts");
