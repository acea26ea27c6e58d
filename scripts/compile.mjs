// Compiles a TypeScript project of this checkout, with the projects that it references, into dist/.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const compiler = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** Compiles what has changed. Ends this process on an error. */
export function compile(project, folders) {
  for (const folder of folders) removeStale(folder);
  run(compiler, "--build", project);
}

/** Replaces a file of dist/assets atomically, because a running service may be reading it. */
export function writeAsset(name, content) {
  const file = path.join(root, "dist/assets", name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, content);
  renameSync(`${file}.${process.pid}`, file);
}

/** Runs a Node program. Ends this process if it fails. */
export function run(...args) {
  // output of the tools goes to stderr, because stdout belongs to the command that is being started
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/** Removes the compiler's output for sources that no longer exist. */
function removeStale(folder) {
  if (!existsSync(path.join(root, "dist", folder))) return;
  for (const file of readdirSync(path.join(root, "dist", folder), { recursive: true })) {
    const source = path.join(root, folder, file.replace(/(\.d)?\.[jt]s(\.map)?$/, ".ts"));
    if (/\.[jt]s(\.map)?$/.test(file) && !existsSync(source)) rmSync(path.join(root, "dist", folder, file));
  }
}
