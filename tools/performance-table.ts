/**
 * Measures the embedded model's figures and writes them into the table of docs/performance.md.
 *
 *     npm run performance:table              about 20 minutes on an idle machine
 *     npm run performance:table -- --quick   three minutes
 */
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { NAMED_SHARE } from "../bench/http/bench-http.ts";
import type { Measurement } from "../bench/measure/statistics.ts";
import type { Report } from "../bench/report/report.ts";
import { rootUrl } from "../scripts/root-url.ts";
import { numberText, withUnit } from "../src/cli/output/bench-text.ts";

const PAGE = new URL("docs/performance.md", rootUrl);
const BEGIN = "<!-- figures: written by `npm run performance:table` -->";
const END = "<!-- figures: end -->";

function jsonOf(args: readonly string[]): unknown {
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: fileURLToPath(rootUrl),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) process.exit(status ?? 1);
  return JSON.parse(stdout);
}

function figuresTable(report: Report): string {
  const { machine, versions, model } = report;
  const flags = machine.flags.filter((flag) =>
    /^(avx2|avx512f|avx512_vnni|avx_vnni|amx_int8|i8mm)$/.test(flag),
  );
  const rows = [...httpRows(report), ...memoryRows(report)];
  const setting =
    `Measured with ${model?.id.split("@")[0]} in ${report.http?.servers[0]?.facts.precision}, Node.js ${versions.node.split(".")[0]}, ` +
    `${machine.usableProcessors} processors with ${flags.join(", ")}. The program that sends the requests uses the same processors.`;
  return [
    ...[setting, ""],
    ...["| figure | median | quartiles |", "| --- | --- | --- |"],
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
}

function row({ title, value, unit, spread }: Measurement): string[] {
  const quartiles = spread.count > 1 ? `${numberText(spread.q1)} .. ${numberText(spread.q3)}` : "";
  return [title, withUnit(value, unit), quartiles];
}

function httpRows({ http }: Report): string[][] {
  const [server] = http?.servers ?? [];
  if (!http || !server) return [];
  const traffic = `HTTP, ${http.workload.name} traffic`;
  const alone = server.closed.find(({ callers }) => callers === 1);
  const named = server.open.find(
    ({ offered }) => Math.abs((offered ?? 0) / server.saturation - NAMED_SHARE) < 1e-9,
  );
  const ms = (value: number | null | undefined) =>
    value == null ? "too few requests" : `${numberText(value)} ms`;
  const { p50, p99 } = named?.latency ?? {};
  return [
    [`${traffic}, 1 caller: median latency`, ms(alone?.latency.p50), ""],
    [`${traffic}: maximum throughput, answers/s`, numberText(server.saturation), ""],
    [
      `${traffic}, open loop at ${100 * NAMED_SHARE} % of it: p50 and p99 latency`,
      `${ms(p50)}, ${ms(p99)}`,
      "",
    ],
  ];
}

function memoryRows({ memory }: Report): string[][] {
  const shown = ["memory.ready", "memory.idle", "memory.after"];
  return (memory?.measurements ?? []).filter(({ name }) => shown.includes(name)).map(row);
}

const effort = process.argv.includes("--quick") ? [] : ["--full"];
// the program's own JSON
const report = jsonOf(["bin/decision.js", "bench", "--json", ...effort]) as Report;
const page = await readFile(PAGE, "utf8");
const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
if (begin < 0 || end < begin) throw new Error(`docs/performance.md lacks ${BEGIN} .. ${END}`);
const table = figuresTable(report);
await writeFile(PAGE, `${page.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${page.slice(end)}`);
