// `npm test`: compiles, then runs all test files, or the given ones. Node 20's runner does not accept patterns.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import "./build.mjs";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const given = process.argv.slice(2);
const options = given.filter((argument) => argument.startsWith("--"));
const files = given.filter((argument) => !argument.startsWith("--"));
const all = readdirSync(path.join(root, "test"), { recursive: true })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => path.join("test", file));

const { status } = spawnSync(
  process.execPath,
  ["--import", "tsx", "--test", ...options, ...(files.length > 0 ? files : all.sort())],
  // graphs are cached between runs, apart from the user's own cache
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, XDG_CACHE_HOME: path.join(root, "node_modules", ".cache") },
  },
);
process.exit(status ?? 1);
