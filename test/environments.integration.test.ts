import assert from "node:assert/strict";
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { OPTION_TABLE } from "../src/options/table.ts";
import { inProcess } from "./cli/in-process.ts";
import { writeTinyPackage } from "./models/tiny-package.ts";
import { packageRoot } from "./support/package-root.ts";

const folder = mkdtempSync(path.join(tmpdir(), "environments-"));
const model = path.join(folder, "package");
/** An installation at a path with characters that URLs and shells treat specially. */
const oddRoot = path.join(folder, "a b #1 100%25 ä?&[x]");
const link = path.join(folder, "decision");
before(async () => {
  await writeTinyPackage(model);
  chmodSync(folder, 0o755);
  mkdirSync(oddRoot);
  for (const part of ["bin", "dist", "generated", "openapi", "package.json", "oclif.manifest.json"])
    cpSync(path.join(packageRoot, part), path.join(oddRoot, part), {
      recursive: true,
      filter: (source) => source !== path.join(packageRoot, "dist/test"),
    });
  symlinkSync(path.join(packageRoot, "node_modules"), path.join(oddRoot, "node_modules"));
  symlinkSync(path.join(oddRoot, "bin/decision.js"), link);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const bin = (root: string) => path.join(root, "bin/decision.js");
const decide = ["decide", "--state", "x", "--question", "y", "--model-path", model];
/** A program that uses the library. */
const library = (root: string) => [
  "--input-type=module",
  "--eval",
  `const { createDecider } = await import(${JSON.stringify(String(pathToFileURL(path.join(root, "dist/src/library/index.js"))))});
  const decider = await createDecider({ modelPath: ${JSON.stringify(model)} });
  const { ranked } = await decider.rank({ state: "x", candidates: ["a", "b"] });
  await decider.close();
  console.log("ranked", ranked.length);`,
];
const STARTS: Readonly<Record<string, { readonly args: (root: string) => readonly string[]; says: RegExp }>> =
  {
    "--version": { args: (root) => [bin(root), "--version"], says: /^@typed-decisions\/service\// },
    "--help": { args: (root) => [bin(root), "--help"], says: /USAGE/ },
    decide: { args: (root) => [bin(root), ...decide], says: /^(true|false)\n/ },
    createDecider: { args: library, says: /^ranked 2\n/ },
  };

const { PATH = "" } = process.env;
function run(wrapper: readonly string[], args: readonly string[], env: Record<string, string>) {
  const [program = "", ...rest] = [...wrapper, process.execPath, ...args];
  return spawnSync(program, rest, { encoding: "utf8", env: { PATH, ...env }, cwd: "/" });
}
function assertStarts({ status, stdout, stderr }: SpawnSyncReturns<string>, says: RegExp) {
  assert.equal(status, 0, stderr);
  assert.match(stdout, says);
  assert.equal(stderr, "");
}

const NOBODY = ["setpriv", "--reuid=1000730000", "--regid=0", "--clear-groups"];
const READ_ONLY = [
  "unshare",
  "--mount",
  "sh",
  "-c",
  'mount -o bind / / && mount -o remount,ro,bind / && exec "$@"',
  "sh",
];
/** Whether a program started so can start Node.js itself, which may lie in a folder that only its owner can enter. */
const works = (wrapper: readonly string[]) => {
  const start = `process.exit(require("node:child_process").spawnSync(process.execPath, ["--version"]).status ?? 1)`;
  return run(wrapper, ["--eval", start], {}).status === 0;
};
const notWithout = (wrapper: readonly string[], what: string) =>
  works(wrapper) ? false : `this user cannot run a program ${what}`;

const asNobody = { wrapper: NOBODY, skip: notWithout(NOBODY, "as another user") };
const LIMITED = ["prlimit", "--nofile=256"];
const SURROUNDINGS: readonly {
  readonly name: string;
  readonly wrapper?: readonly string[];
  readonly env?: Record<string, string>;
  readonly root?: string;
  readonly starts?: readonly (keyof typeof STARTS)[];
  readonly skip?: string | boolean;
}[] = [
  { name: "neither HOME nor SHELL", env: {} },
  { name: "no name, HOME or SHELL of the user", env: {}, starts: Object.keys(STARTS), ...asNobody },
  { name: "no name or SHELL of the user", starts: ["--version"], ...asNobody },
  { name: "no name, HOME and SHELL empty", env: { HOME: "", SHELL: "" }, starts: ["--version"], ...asNobody },
  { name: "256 file descriptors", wrapper: LIMITED, skip: notWithout(LIMITED, "with a lower limit") },
  { name: "a small heap", env: { NODE_OPTIONS: "--max-old-space-size=48" } },
  {
    name: "a read-only file system",
    wrapper: READ_ONLY,
    skip: notWithout(READ_ONLY, "on a read-only file system"),
  },
  { name: "an odd installation path", root: oddRoot, starts: ["decide", "createDecider"] },
];

describe("a start", () => {
  for (const {
    name,
    wrapper = [],
    env = { HOME: "/tmp" },
    root = packageRoot,
    starts = ["decide"],
    skip = false,
  } of SURROUNDINGS)
    for (const start of starts)
      it(`succeeds: ${start}, with ${name}`, { skip }, () => {
        const { args = () => [], says = / / } = STARTS[start] ?? {};
        assertStarts(run(wrapper, args(root), env), says);
      });

  it("succeeds by a symbolic link", () =>
    assertStarts(run([], [link, "--version"], {}), /^@typed-decisions/));
});

describe("variables of options", () => {
  const config = async (value: string) => {
    const variables = Object.values(OPTION_TABLE).map((row) => [row.env, value]);
    const { status, stdout, stderr } = await inProcess(["config", "--json"], {
      env: Object.fromEntries(variables),
    });
    assert.deepEqual([status, stderr], [0, ""]);
    const { options }: { options: { source: { kind: string } }[] } = JSON.parse(stdout);
    return new Set(options.map(({ source }) => source.kind));
  };

  it("count as not set if they are empty, or set by Kubernetes for a service of this name", async () => {
    for (const value of ["", "tcp://10.96.0.12:8700", "udp://[fd00::1]:53"])
      assert.deepEqual(await config(value), new Set(["default"]), value);
  });
});
