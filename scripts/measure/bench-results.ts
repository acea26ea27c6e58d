import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Report } from "../../bench/report/report.ts";
import { withTable } from "../../bench/report/results-table.ts";
import { rootUrl } from "../root-url.ts";

/**
 * Measures the current figures. Writes them to bench/results/current.json and into the table of docs/performance.md.
 *
 *     npm run bench:results                 runs with --full: about 25 minutes on an idle machine
 *     npm run bench:results -- --quick      takes two minutes
 *     npm run bench:results -- --table      measures nothing: rewrites the table from bench/results/current.json
 *
 * All other arguments are passed to `decision bench`.
 */
const RESULTS = new URL("bench/results/current.json", rootUrl);
const PAGE = new URL("docs/performance.md", rootUrl);
const OWN = ["--quick", "--table"];

/** The expected and the present content of docs/performance.md. */
export async function performancePage(): Promise<{ readonly wanted: string; readonly present: string }> {
  const report: Report = JSON.parse(await readFile(RESULTS, "utf8"));
  const present = await readFile(PAGE, "utf8");
  return { wanted: withTable(present, report), present };
}

function measure(args: readonly string[]): string {
  const command = fileURLToPath(new URL("bin/decision.js", rootUrl));
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
  await writeFile(PAGE, (await performancePage()).wanted);
}
