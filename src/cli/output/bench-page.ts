import type { ServerReport } from "../../../bench/http/bench-http.ts";
import type { LevelReport } from "../../../bench/http/load.ts";
import type { Report } from "../../../bench/report/report.ts";
import { facts, numberText, type Table, tables } from "./bench-text.ts";
import { type Axis, escaped, htmlPage, htmlTable, plot } from "./html.ts";

/** The report as one self-contained page. */
export function benchPage(report: Report): string {
  return htmlPage(
    `decision bench, ${report.startedAt.slice(0, 10)}`,
    `<h1>decision bench</h1>
<pre>${escaped(facts(report).join("\n"))}</pre>
${charts(report.http?.servers ?? [])}
${tables(report).map(tableHtml).join("\n")}`,
  );
}

function tableHtml({ title, head, rows, note }: Table): string {
  return `<h2>${escaped(title)}</h2>${htmlTable(head, rows.map(indented))}${note ? `<p>${escaped(note)}</p>` : ""}`;
}

/** White space at the beginning of a figure's name shows that it is a part of the one above. */
const indented = (row: readonly string[]) => row.map((cell) => cell.replace(/^ +/, "\u2003"));

interface Series {
  readonly label: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly isDashed?: boolean;
}

function charts(servers: readonly ServerReport[]): string {
  if (servers.length === 0) return "";
  const ofAll = (series: (server: ServerReport) => readonly Series[]) =>
    servers.flatMap((server) =>
      series(server).map((one) => ({
        ...one,
        label: servers.length > 1 ? `${one.label}, ${server.label}` : one.label,
      })),
    );
  const curve = ({ latency }: LevelReport) =>
    latency.curve.map(({ percentile, ms }) => [percentile, ms] as const);
  const distribution = ofAll(({ closed, open }) => [
    ...closed
      .filter(({ callers }) => [1, 8, 64].includes(callers ?? 0))
      .map((level) => ({ label: counted(level.callers ?? 0), points: curve(level) })),
    ...open.slice(-2).map((level) => {
      return { label: `${numberText(level.offered ?? 0)}/s offered`, points: curve(level), isDashed: true };
    }),
  ]);
  const throughput = ofAll(({ closed }) => [
    {
      label: "answers/s",
      points: closed.map((level) => [level.callers ?? 0, level.throughput.value] as const),
    },
  ]);
  const load = ofAll(({ open }) =>
    (["p50", "p90", "p99"] as const).map((key) => ({
      label: key,
      points: open.flatMap(({ offered, latency }) => {
        const ms = latency[key];
        return ms === null ? [] : [[offered ?? 0, ms] as const];
      }),
    })),
  );
  return [
    chart(
      "Latency distribution over HTTP",
      "Latency at each percentile. Solid: closed loop. Dashed: open loop, measured from the intended send time. A curve ends at the highest percentile that the number of requests supports.",
      {
        label: "percentile",
        ticks: [0, 50, 90, 95, 99, 99.9, 99.99],
        scale: nines,
        text: (tick) => `${tick} %`,
      },
      MILLISECONDS,
      distribution,
    ),
    chart(
      "Throughput against concurrency",
      "Answers per second by the number of concurrent callers.",
      { label: "callers", ticks: [1, 2, 4, 8, 16, 32, 64], scale: Math.log },
      (values) => ({ label: "answers per second", ticks: roundTicks(values) }),
      throughput,
    ),
    chart(
      "Latency against load",
      "Open loop: requests sent at fixed times (Poisson), independent of earlier answers.",
      {
        label: "offered requests per second",
        ticks: roundTicks(load.flatMap(({ points }) => points.map(([x]) => x))),
      },
      MILLISECONDS,
      load,
    ),
  ].join("\n");
}

const counted = (callers: number) => `${callers} ${callers === 1 ? "caller" : "callers"}`;
/** The number of nines of a percentile (1 for 90 %, 2 for 99 %), a scale that stretches the tail. */
const nines = (percentile: number) => -Math.log10(1 - percentile / 100);

const MILLISECONDS = (values: readonly number[]): Axis => ({
  label: "milliseconds",
  ticks: logTicks(values),
  scale: Math.log,
});

/** @param up the vertical axis for all values */
function chart(
  title: string,
  text: string,
  x: Axis,
  up: (values: readonly number[]) => Axis,
  series: readonly Series[],
): string {
  const drawn = series.filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return "";
  const y = up(drawn.flatMap(({ points }) => points.map(([, value]) => value)));
  const picture = plot(`${title}; its numbers are in the tables below`, x, y, WIDTH, ({ line, dot }) =>
    drawn
      .map(({ label, points, isDashed }, i) => {
        const dots = points.map(([a, b]) => dot(a, b, 3, `${label}: ${numberText(b)}`));
        return `<g class="s${i % 6}">${line(isDashed ? "curve dashed" : "curve", points)}${dots.join("")}</g>`;
      })
      .join(""),
  );
  const keys = drawn.map(({ label }, i) => `<span class="key s${i % 6}">● ${escaped(label)}</span>`);
  return `<h2>${title}</h2><p>${text}</p>${picture}<p>${keys.join("")}</p>`;
}

const WIDTH = 900;

/** Ticks from 0 to the largest value, at most eleven. */
function roundTicks(values: readonly number[]): number[] {
  const most = Math.max(1e-9, ...values);
  const power = 10 ** Math.floor(Math.log10(most));
  const step = most / power > 5 ? power : most / power > 2 ? power / 2 : power / 5;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** Ticks at 1, 2 and 5 of each power of ten, around the values. */
function logTicks(values: readonly number[]): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(least)); (ticks.at(-1) ?? 0) <= most; power++)
    for (const digit of [1, 2, 5]) ticks.push(Number((digit * 10 ** power).toPrecision(1)));
  const first = ticks.findLastIndex((tick) => tick <= least);
  return ticks.slice(Math.max(0, first), ticks.findIndex((tick) => tick > most) + 1);
}
