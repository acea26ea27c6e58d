import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withTable } from "../../bench/report/readme-table.ts";
import type { Report } from "../../bench/report/report.ts";

/**
 * Measures the current figures and writes them to bench/results/current.json and into the README's table.
 *
 *     npm run bench:results                 measures with --full: some twenty-five minutes on a machine that does nothing else
 *     npm run bench:results -- --quick      measures for two minutes
 *     npm run bench:results -- --table      writes the table anew from the figures that are there
 *
 * Every other argument goes to `decision bench`.
 */
const RESULTS = new URL("../../bench/results/current.json", import.meta.url);
const README = new URL("../../README.md", import.meta.url);
const OWN = ["--quick", "--table"];

/** The README as it should be, and as it is. */
export async function readmes(): Promise<{ readonly wanted: string; readonly present: string }> {
  const report: Report = JSON.parse(await readFile(RESULTS, "utf8"));
  const present = await readFile(README, "utf8");
  return { wanted: withTable(present, report), present };
}

function measure(args: readonly string[]): string {
  const command = fileURLToPath(new URL("../../bin/decision.js", import.meta.url));
  const effort = args.includes("--quick") ? [] : ["--full"];
  const passed = args.filter((argument) => !OWN.includes(argument));
  const { status, stdout } = spawnSync(
    process.execPath,
    [command, "bench", "--json", "--profile", ...effort, ...passed],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 2 ** 30 },
  );
  if (status !== 0) process.exit(status ?? 1);
  return stdout;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const args = process.argv.slice(2);
  if (!args.includes("--table")) await writeFile(RESULTS, measure(args));
  await writeFile(README, (await readmes()).wanted);
}
