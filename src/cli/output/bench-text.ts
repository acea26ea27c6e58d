import { type HttpReport, NAMED_SHARE, type ServerReport } from "../../../bench/http/bench-http.ts";
import type { LevelReport } from "../../../bench/http/load.ts";
import type { MemoryReport } from "../../../bench/http/memory.ts";
import type { Measurement } from "../../../bench/measure/statistics.ts";
import type { Failures, LatencySummary } from "../../../bench/measure/tally.ts";
import type { Comparison } from "../../../bench/report/compare.ts";
import type { Report } from "../../../bench/report/report.ts";
import { alignedRows } from "./model-text.ts";

/** A heading with rows under it: what the terminal, the page and docs/performance.md show. */
export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Explanation of the table. */
  readonly note?: string;
}

/** Formats the whole report for a terminal. */
export function reportText(report: Report): string {
  return [facts(report).join("\n"), ...tables(report).map(tableText)].join("\n\n");
}

/** The first column is aligned to the left, the others to the right. */
export function tableText({ title, head, rows, note }: Table): string {
  const [first = "", ...lines] = alignedRows([head, ...rows], "right");
  const rule = "-".repeat(Math.max(...[first, ...lines].map(({ length }) => length)));
  return [title, first, rule, ...lines, ...(note ? [note] : [])].join("\n");
}

/** Machine, versions and settings of the run. */
export function facts({
  machine,
  versions,
  commit,
  model,
  seed,
  options,
  seconds,
  startedAt,
}: Report): string[] {
  const service = Object.entries(options.service).map(([name, value]) => `${name} ${value}`);
  const { count, seconds: bound } = options;
  const bounds = [
    ...(count === null ? [] : [`at most ${count} requests each`]),
    ...(bound === null ? [] : [`at most ${bound} s each`]),
  ];
  return [
    `machine   ${machine.cpu}, ${machine.usableProcessors} of ${machine.processors} processors, ${numberText(machine.memoryBytes / 2 ** 30)} GiB, ${machine.platform}`,
    `cpu flags ${machine.flags.join(" ") || "unknown"}`,
    `versions  package ${versions.package}, node ${versions.node}, onnxruntime ${versions.onnxruntime}, commit ${commit ?? "none"}`,
    `model     ${model ? `${model.id}, weights sha256 ${model.weightsSha256?.slice(0, 12)}..` : "of the servers"}`,
    `run       ${[options.effort, `seed ${seed}`, `${numberText(seconds)} s`, startedAt, ...bounds, ...service].join(", ")}`,
  ];
}

export function tables(report: Report): Table[] {
  const { http, memory } = report;
  return [...(http ? httpTables(http) : []), ...(memory ? memoryTables(memory) : [])];
}

/** Rates and latencies are those of correct answers. Statuses count all answers. */
const LEVEL_HEAD = ["answers/s", "p50", "p90", "p99", "p99.9", "max", "statuses", "faults"];

function httpTables({ workload, servers, against, limits }: HttpReport): Table[] {
  const tables = servers.flatMap((server) => serverTables(server, workload.title));
  if (against.length > 0)
    tables.push(measurementTable("The first server relative to the server at --against", against));
  if (limits.length > 0) {
    tables.push({
      title: "The contract's limits over HTTP, one caller; ms",
      head: ["request", ...LEVEL_HEAD],
      rows: limits.map(({ title, level }) => [title, ...levelCells(level)]),
    });
  }
  return tables;
}

function serverTables(
  { label, url, facts, closed, open, saturation }: ServerReport,
  workload: string,
): Table[] {
  const place = `${label}${url ? ` ${url}` : ""} (${facts.model.split("@")[0]}, ${facts.precision})`;
  const named = open.find(({ offered }) => Math.abs((offered ?? 0) / saturation - NAMED_SHARE) < 1e-9);
  const p99 = named?.latency.p99 ?? null;
  const note = named
    ? `; p99 at ${100 * NAMED_SHARE} % of saturation: ${p99 === null ? "too few requests" : `${numberText(p99)} ms`}`
    : "";
  return [
    {
      title: `HTTP, closed loop: ${place}; ${workload}; ms`,
      head: ["callers", ...LEVEL_HEAD],
      rows: closed.map((level) => [String(level.callers), ...levelCells(level)]),
    },
    {
      title: `HTTP, open loop, latency from the intended start: ${place}${note}`,
      head: ["offered/s", ...LEVEL_HEAD],
      rows: open.map((level) => [numberText(level.offered ?? 0), ...levelCells(level)]),
    },
  ];
}

function levelCells({ throughput, latency, statuses, failures }: LevelReport): string[] {
  return [
    numberText(throughput.value),
    ...latencyCells(latency),
    counts(statuses),
    counts(failures) || "none",
  ];
}

function latencyCells({ p50, p90, p99, p999, max }: LatencySummary): string[] {
  return [p50, p90, p99, p999, max].map(maybe);
}

function memoryTables({ measurements, note, failures }: MemoryReport): Table[] {
  const table = measurementTable(`Start and memory${note ? ` (${note})` : ""}`, measurements);
  const faults = counts(failures);
  return [faults === "" ? table : { ...table, note: `faults: ${faults}` }];
}

/** A figure, followed by the indented numbers that it is computed from. */
function measurementTable(title: string, measurements: readonly Measurement[]): Table {
  const rows = measurements.map(({ name, title, value, spread, unit }) => [
    name.split(".").length > 2 ? `  ${title}` : title,
    withUnit(value, unit),
    spread.count > 1 ? `${numberText(spread.q1)} .. ${numberText(spread.q3)}` : "",
    String(spread.count),
  ]);
  return { title, head: ["figure", "median", "quartiles", "rounds"], rows };
}

/** A percentile is missing if there are too few requests. */
const maybe = (ms: number | null) => (ms === null ? "-" : numberText(ms));
const counts = (byName: Readonly<Record<string, number>>) =>
  Object.entries(byName)
    .map(([name, count]) => `${name}: ${count}`)
    .join(", ");

/** Table of the ratios of two runs, with marks. */
export function comparisonTable(comparisons: readonly Comparison[], file: string): Table {
  return {
    title: `Compared with ${file}: ratio new / old`,
    head: ["figure", "old", "new", "ratio", ""],
    rows: comparisons.map(({ name, unit, old, new: now, ratio, verdict }) => [
      name,
      withUnit(old, unit),
      withUnit(now, unit),
      numberText(ratio),
      verdict === "better" || verdict === "worse" ? `${verdict.toUpperCase()}` : verdict,
    ]),
    note: "If nothing has changed, at most one comparison in twenty shows a mark (better or worse).",
  };
}

/** Formats a number with three significant digits and thousands separators. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

export function withUnit(value: number, unit: string): string {
  if (unit === "x") return `${numberText(value)}x`;
  return `${numberText(value)} ${unit}`;
}

/** One line with all reasons of failures; undefined if nothing failed. */
export function failuresText(failures: Failures): string | undefined {
  const reasons = Object.entries(failures);
  if (reasons.length === 0) return undefined;
  const count = reasons.reduce((sum, [, number]) => sum + number, 0);
  const list = reasons.map(([reason, number]) => `${number} x ${reason}`).join("; ");
  return `${count} requests failed and do not count in rates and latencies: ${list}.`;
}
