import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { packageRoot } from "../../src/package-root.ts";

/** schemathesis and its dependencies, with exact versions. */
const REQUIREMENTS = new URL("requirements.txt", import.meta.url);
const run = promisify(execFile);

export interface Generated {
  readonly cases: number;
  readonly failures: readonly string[];
  /** Operations whose cases ended early because of an error in schemathesis, such as a stack overflow of Python. */
  readonly toolErrors: number;
  /** The text report of schemathesis. */
  readonly output: string;
}

/** Creates the virtual environment if it is missing. @returns the path of the program */
async function installed(): Promise<string> {
  const digest = createHash("sha256")
    .update(await readFile(REQUIREMENTS))
    .digest("hex")
    .slice(0, 16);
  const folder = path.join(packageRoot, "node_modules", ".cache", `schemathesis-${digest}`);
  const program = path.join(folder, "bin", "schemathesis");
  if (existsSync(program)) return program;
  await run("python3", ["-m", "venv", folder]);
  await run(path.join(folder, "bin", "pip"), [
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--requirement",
    fileURLToPath(REQUIREMENTS),
  ]);
  return program;
}

/**
 * Runs cases generated from the service's document, with all checks of schemathesis except one: it would require that
 * every request that fits the schema is accepted, but the contract has rules that a schema cannot express.
 */
export async function schemathesis(
  port: number,
  seed: number,
  { cases, seconds }: { cases: number; seconds: number },
): Promise<Generated> {
  const program = await installed();
  const scratch = await mkdtemp(path.join(tmpdir(), "schemathesis-"));
  const report = path.join(scratch, "report.json");
  try {
    const child = spawn(
      program,
      [
        ...[
          "run",
          `http://127.0.0.1:${port}/openapi.json`,
          "--seed",
          String(seed),
          "--max-examples",
          String(cases),
        ],
        ...[
          "--max-time",
          String(seconds),
          "--workers",
          "2",
          "--request-timeout",
          "20",
          "--phases",
          "coverage,fuzzing",
        ],
        ...["--checks", "all", "--exclude-checks", "positive_data_acceptance"],
        ...["--no-color", "--no-shrink", "--continue-on-failure", "--generation-database", "none"],
        ...["--warnings", "off", "--report", "json", "--report-json-path", report],
      ],
      { cwd: scratch, stdio: ["ignore", "pipe", "pipe"] },
    );
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    const { test_cases: counts, failures, errors: own } = JSON.parse(await readFile(report, "utf8"));
    const others = own.filter(({ title }: { title: string }) => title !== "Runtime Error");
    return {
      cases: Number(counts.generated),
      failures: [...failures, ...others].map((failure: unknown) => JSON.stringify(failure)),
      toolErrors: own.length - others.length,
      output: `${output}${errors}`,
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
