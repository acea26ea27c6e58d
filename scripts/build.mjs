// Compiles src, handlers and generated into dist/, and puts beside them the assets that the pages need.
import { spawnSync } from "node:child_process";
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

run(require.resolve("typescript/bin/tsc"), "-p", "tsconfig.build.json");
run("--import", "tsx", "scripts/copy-assets.ts");
