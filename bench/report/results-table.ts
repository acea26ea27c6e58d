import { NAMED_SHARE } from "../http/bench-http.ts";
import type { LevelReport } from "../http/load.ts";
import type { Measurement } from "../measure/measurement.ts";
import type { Report } from "./report.ts";
import { numberText, withUnit } from "./terminal.ts";

const BEGIN = "<!-- bench: written by `npm run bench:results`, do not edit -->";
const END = "<!-- bench: end -->";

/** The table of docs/performance.md: the figures of bench/results, and the machine they were measured on. */
function resultsTable(report: Report): string {
  const { machine, versions, engine, model, seed, startedAt, options } = report;
  const flags = machine.flags.filter((flag) =>
    /^(avx2|avx512f|avx512_vnni|avx_vnni|amx_int8|i8mm)$/.test(flag),
  );
  const rows = [...figureRows(engine?.figures ?? []), ...httpRows(report), ...memoryRows(report)];
  return [
    "| setting | value |",
    "| --- | --- |",
    `| date | ${startedAt.slice(0, 10)} |`,
    `| processor | ${machine.cpu}, ${machine.usableProcessors} hardware threads; ${flags.join(", ")} |`,
    `| model | ${model?.id.split("@")[0]}, ${engine?.precision ?? "?"} |`,
    `| versions | Node ${versions.node}, ONNX Runtime ${versions.onnxruntime}, commit \`${commitText(report.commit)}\` |`,
    `| command | \`${["decision bench", ...(options.effort === "full" ? ["--full"] : []), "--seed", seed].join(" ")}\` |`,
    "",
    "| figure | median | quartiles | rounds |",
    "| --- | --- | --- | --- |",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
}

/** The page with its table replaced. @throws Error if the markers are missing */
export function withTable(page: string, report: Report): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`docs/performance.md lacks ${BEGIN} .. ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${resultsTable(report)}\n\n${page.slice(end)}`;
}

/** Rows of the ratios, without the numbers that they are computed from. */
function figureRows(figures: readonly Measurement[]): string[][] {
  return figures.filter(({ name }) => name.split(".").length === 2).map(row);
}

function row({ title, value, unit, spread }: Measurement): string[] {
  const quartiles = spread.count > 1 ? `${numberText(spread.q1)} .. ${numberText(spread.q3)}` : "";
  return [title, withUnit(value, unit), quartiles, String(spread.count)];
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
  const most = server.closed.find(({ throughput }) => throughput.value === server.saturation);
  const rounds = (level: LevelReport | undefined) => String(level?.throughput.spread.count ?? "");
  return [
    ...http.overhead.slice(0, 1).map(row),
    [`${traffic}, 1 caller: median latency`, ms(alone?.latency.p50), "", rounds(alone)],
    [`${traffic}: maximum throughput, answers/s`, numberText(server.saturation), "", rounds(most)],
    [
      `${traffic}, open loop at ${100 * NAMED_SHARE} % of the maximum: p50 and p99 latency`,
      `${ms(p50)}, ${ms(p99)}`,
      "",
      rounds(named),
    ],
  ];
}

function memoryRows({ memory }: Report): string[][] {
  const shown = ["memory.ready", "memory.idle", "memory.after", "memory.growth"];
  return (memory?.measurements ?? []).filter(({ name }) => shown.includes(name)).map(row);
}

/** Short commit, with the "+" of a changed checkout. */
function commitText(commit: string | null): string {
  return commit === null ? "none" : commit.slice(0, 9) + (commit.endsWith("+") ? "+" : "");
}
