import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { cpuCount } from "../../src/backends/onnx/runtime/cpu-count.ts";
import { packageRoot } from "../../src/package-root.ts";

export interface Machine {
  readonly cpu: string;
  /** Processors of the system, and those that this process may use. */
  readonly processors: number;
  readonly usableProcessors: number;
  /** CPU flags that matter for matrix products. */
  readonly flags: readonly string[];
  readonly memoryBytes: number;
  readonly platform: string;
}

/** Instruction sets that the runtime's kernels use. */
const FLAGS = [
  "avx2",
  "fma",
  "f16c",
  "avx512f",
  "avx512bw",
  "avx512vl",
  "avx_vnni",
  "avx512_vnni",
  "avx512_bf16",
  "avx512_fp16",
  "amx_tile",
  "amx_int8",
  "amx_bf16",
  "asimd",
  "asimddp",
  "i8mm",
  "bf16",
  "sve",
];

export function describeMachine(): Machine {
  const [first] = os.cpus();
  return {
    cpu: first?.model.trim() ?? os.arch(),
    processors: os.cpus().length,
    usableProcessors: cpuCount(),
    flags: cpuFlags(readText("/proc/cpuinfo")),
    memoryBytes: os.totalmem(),
    platform: `${os.type()} ${os.release()} ${os.arch()}`,
  };
}

/** @param cpuinfo text of /proc/cpuinfo: `flags` on x86, `Features` on ARM; empty on other systems */
export function cpuFlags(cpuinfo: string): readonly string[] {
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo)?.[1] ?? "";
  const present = new Set(line.trim().split(/\s+/));
  return FLAGS.filter((flag) => present.has(flag));
}

export interface Versions {
  readonly package: string;
  readonly node: string;
  readonly onnxruntime: string;
}

export function describeVersions(): Versions {
  const require = createRequire(import.meta.url);
  return {
    package: versionIn(path.join(packageRoot, "package.json")),
    node: process.versions.node,
    onnxruntime: versionIn(require.resolve("onnxruntime-node/package.json")),
  };
}

/** The commit of a checkout, followed by "+" if files have changed; undefined for an installed package. */
export function describeCommit(): string | undefined {
  if (!existsSync(path.join(packageRoot, ".git"))) return undefined;
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: packageRoot,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  try {
    const commit = git("rev-parse", "HEAD");
    return git("status", "--porcelain", "--", ".", ":!bench/results", ":!docs/performance.md") === ""
      ? commit
      : `${commit}+`;
  } catch {
    return undefined; // no git on this machine
  }
}

function versionIn(file: string): string {
  return String(JSON.parse(readText(file) || "{}").version);
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
