// Compiles src, handlers, generated and bench into dist/, and puts beside them the assets that the pages need.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const require = createRequire(import.meta.url);

function run(...args) {
  // what the tools print goes to stderr: stdout belongs to the command that is being started
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/** The compiler leaves behind what it wrote for a source that has moved since. */
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
