// `npm test`, `npm run test:unit`, `npm run test:deep`, `npm run check:page`, `npm run check:native`: compiles, then
// runs the test files of a lane, or those given. CONTRIBUTING.md says which file is in which lane. Options (--test-...)
// go to Node's test runner.
import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, readdirSync, statSync } from "node:fs";
import { availableParallelism, homedir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import "./build.mjs";
import { compile, root } from "./compile.mjs";

/** Kinds of test files by lane. The kind is the part of the file name before `.test.ts`. */
const LANES = {
  quick: ["unit", "integration"],
  unit: ["unit"],
  deep: ["deep"],
  page: ["page"],
  native: ["native"],
};

const TEST_FOLDERS = ["test", "packages/conformance/test"];

function kindOf(file) {
  return /\.(integration|deep|page|native)\.test\.ts$/.exec(file)?.[1] ?? "unit";
}

/** The test files of a lane, as a list because Node 20's test runner has no patterns. */
function filesOf(lane) {
  const kinds = LANES[lane];
  if (kinds === undefined)
    throw new Error(`--lane: expected one of ${Object.keys(LANES).join(", ")}, got ${lane}`);
  return TEST_FOLDERS.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((file) => path.join(folder, file)),
  )
    .filter((file) => file.endsWith(".test.ts") && kinds.includes(kindOf(file)))
    .sort()
    .sort((one, other) => Number(kindOf(one) === "unit") - Number(kindOf(other) === "unit")); // longest first
}

/** A writable home folder, which npm needs. The user's own if possible, since it has npm's configuration. */
function writableHome() {
  try {
    accessSync(homedir(), constants.W_OK);
    if (statSync(homedir()).isDirectory()) return {};
  } catch {} // the folder does not exist or belongs to another user
  const home = path.join(root, "node_modules", ".cache", "home");
  mkdirSync(home, { recursive: true });
  return { HOME: home, USERPROFILE: home };
}

const compiled = (file) => path.join("dist", path.relative(root, path.resolve(file))).replace(/\.ts$/, ".js");
const here = (file) => pathToFileURL(path.join(root, "scripts", file)).href;

const given = process.argv.slice(2);
const lane = given.find((argument) => argument.startsWith("--lane="))?.slice("--lane=".length) ?? "quick";
const options = given.filter((argument) => argument.startsWith("--test-"));
const named = given.filter((argument) => !argument.startsWith("--"));
const files = named.length > 0 ? named : filesOf(lane);

if (!options.some((option) => option.startsWith("--test-reporter")))
  options.push(`--test-reporter=${here("test-reporter.mjs")}`);
// more workers than processors, since tests mostly wait for processes
if (!options.some((option) => option.startsWith("--test-concurrency")))
  options.push(`--test-concurrency=${2 * availableParallelism()}`);
// a hang fails with the test's name; the slowest file takes some minutes
if (!options.some((option) => option.startsWith("--test-timeout")))
  options.push(`--test-timeout=${20 * 60_000}`);

compile("tsconfig.test.json", ["test", "scripts"]);
const { status } = spawnSync(
  process.execPath,
  ["--enable-source-maps", "--import", here("test-guard.mjs"), "--test", ...options, ...files.map(compiled)],
  {
    cwd: root,
    stdio: "inherit",
    // graphs are cached from one run to the next, but not in the user's cache
    env: {
      ...process.env,
      ...writableHome(),
      XDG_CACHE_HOME: path.join(root, "node_modules", ".cache"),
      TEST_FILES: String(files.length),
    },
  },
);
process.exit(status ?? 1);
