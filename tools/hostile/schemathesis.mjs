import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pythonWith } from "../../scripts/python.mjs";

/** schemathesis and its dependencies, with exact versions. */
const REQUIREMENTS = path.join(import.meta.dirname, "requirements.txt");

/**
 * Runs cases generated from the service's document, with all checks of schemathesis except one: it would require that
 * every request that fits the schema is accepted, but the contract has rules that a schema cannot express.
 *
 * @returns the number of cases, the failures, and the report as text. Errors in schemathesis itself, such as a stack
 *   overflow of Python, are no failures
 */
export async function schemathesis(port, { seed, cases, seconds }) {
  const python = pythonWith("schemathesis-4.32.5", ["--requirement", REQUIREMENTS]);
  const program = path.join(path.dirname(python), "schemathesis");
  const scratch = mkdtempSync(path.join(tmpdir(), "schemathesis-"));
  const flags = {
    seed,
    "max-examples": cases,
    "max-time": seconds,
    workers: 2,
    "request-timeout": 20,
    phases: "coverage,fuzzing",
    checks: "all",
    "exclude-checks": "positive_data_acceptance",
    "generation-database": "none",
    warnings: "off",
    report: "json",
    "report-json-path": "report.json",
  };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  args.push("--no-color", "--no-shrink", "--continue-on-failure");
  try {
    const child = spawn(program, ["run", `http://127.0.0.1:${port}/openapi.json`, ...args], { cwd: scratch });
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    const report = JSON.parse(readFileSync(path.join(scratch, "report.json"), "utf8"));
    const others = report.errors.filter(({ title }) => title !== "Runtime Error");
    return {
      cases: Number(report.test_cases.generated),
      failures: [...report.failures, ...others].map((failure) => JSON.stringify(failure)),
      output: `${output}${errors}`,
    };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
