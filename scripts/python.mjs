import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * A Python with packages, in a virtual environment in node_modules/.cache that is made once.
 *
 * @param name     of the environment's folder
 * @param packages arguments of `pip install`
 * @returns        the path of the program
 */
export function pythonWith(name, packages) {
  const folder = path.join(import.meta.dirname, "../node_modules/.cache", name);
  const python = path.join(folder, "bin/python");
  const marker = path.join(folder, "complete");
  if (existsSync(marker)) return python;
  const run = (program, ...args) => execFileSync(program, args, { stdio: ["ignore", 2, 2] });
  run("python3", "-m", "venv", "--clear", folder);
  run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages);
  writeFileSync(marker, "");
  return python;
}
