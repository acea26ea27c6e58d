// Draws the dashboard from a real run, without Grafana: docs/dashboard.svg.
// `npm run build && node deploy/grafana/picture.mjs [--seconds 200] [--out docs/dashboard.svg]`. Needs `prometheus` in
// PATH or its path in PROMETHEUS, and `ps`.
//
// Two services answer traffic that changes, Prometheus reads their metrics, and every query of the dashboard is sent to
// Prometheus. The panels stand where the dashboard has them; colours and axes are this program's.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { drawDashboard } from "./draw.mjs";

const root = path.join(import.meta.dirname, "../..");
const { values: flags } = parseArgs({
  options: {
    seconds: { type: "string", default: "200" },
    out: { type: "string", default: path.join(root, "docs/dashboard.svg") },
  },
});
const SECONDS = Number(flags.seconds);
const SCRAPE_SECONDS = 2;
const RATE_INTERVAL = "20s";
const WORDS =
  "order parcel refund invoice card printer account login delay support price queue letter box city".split(
    " ",
  );
/**
 * Chosen, so that each panel has something to show: shares of the run, how many ask at a time, and of how many states.
 */
const PHASES = [
  { until: 0.3, callers: 2, states: Number.POSITIVE_INFINITY },
  { until: 0.6, callers: 6, states: 6 },
  { until: 0.75, callers: 60, states: Number.POSITIVE_INFINITY },
  { until: 1, callers: 3, states: 40 },
];
const KILL_AT = 0.85;

const folder = mkdtempSync(path.join(tmpdir(), "dashboard-"));
const children = [];
try {
  const services = [];
  for (const _ of [0, 1]) {
    const port = await freePort();
    const options = ["--queue-size", "12", "--cache-size", "2000"];
    services.push({
      port,
      child: start(process.execPath, ["bin/decision.js", "serve", "--port", port, ...options]),
    });
  }
  for (const { port } of services) await until(`http://127.0.0.1:${port}/ready`);
  const prometheus = await startPrometheus(services.map(({ port }) => port));
  const began = Date.now();
  await Promise.all([traffic(services, began), killLater(services[1].child.pid)]);
  const dashboard = JSON.parse(readFileSync(path.join(import.meta.dirname, "decision.json"), "utf8"));
  const range = { start: began / 1000, end: Date.now() / 1000, step: SCRAPE_SECONDS };
  const panels = [];
  for (const panel of dashboard.panels)
    panels.push({ ...panel, lines: await linesOf(prometheus, panel, range) });
  for (const { title, lines } of panels)
    if (lines.length === 0) throw new Error(`nothing to show in "${title}"`);
  writeFileSync(flags.out, drawDashboard(panels, range));
} finally {
  for (const child of children) child.kill();
  await Promise.all(
    children.map((child) => child.pid === undefined || (child.exitCode ?? once(child, "exit"))),
  );
  rmSync(folder, { recursive: true });
}

function start(command, args) {
  const child = spawn(command, args.map(String), { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  child.on("error", ({ message }) => console.error(`${command} cannot be run: ${message}`));
  children.push(child);
  return child;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function until(url) {
  for (let tries = 0; tries < 600; tries += 1) {
    const isThere = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    await sleep(100);
  }
  throw new Error(`${url} does not answer`);
}

/** @returns its address */
async function startPrometheus(ports) {
  const config = path.join(folder, "prometheus.yml");
  const targets = ports.map((port, index) => ({
    targets: [`127.0.0.1:${port}`],
    labels: { instance: `decision-${index}` },
  }));
  // JSON is YAML
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: `${SCRAPE_SECONDS}s` },
      scrape_configs: [{ job_name: "decision", static_configs: targets }],
    }),
  );
  const port = await freePort();
  start(process.env.PROMETHEUS ?? "prometheus", [
    `--config.file=${config}`,
    `--storage.tsdb.path=${path.join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--log.level=error",
  ]);
  await until(`http://127.0.0.1:${port}/-/ready`);
  return `http://127.0.0.1:${port}`;
}

/** The callers of all phases; each asks while its phase lasts. */
async function traffic(services, began) {
  let turn = 0;
  const caller = async (index) => {
    for (;;) {
      const share = (Date.now() - began) / 1000 / SECONDS;
      const phase = PHASES.find((each) => share < each.until);
      if (phase === undefined) return;
      if (index >= phase.callers) await sleep(200);
      else await ask(services[turn % services.length].port, turn++, phase.states);
    }
  };
  const most = Math.max(...PHASES.map(({ callers }) => callers));
  await Promise.all(Array.from({ length: most }, (_, index) => caller(index)));
}

async function ask(port, turn, states) {
  const seed = turn % states;
  const state = Array.from(
    { length: 120 },
    (_, word) => WORDS[(word * (seed + 3) + ((word * word) >> 3)) % 15],
  ).join(" ");
  const isRanking = turn % 4 === 3;
  const body = isRanking
    ? {
        state: `${state} ${seed}`,
        question: "What is it about?",
        candidates: WORDS.slice(turn % 5, 6 + (turn % 5)),
      }
    : {
        state: `${state} ${seed}`,
        questions: { a: { type: "noul", instructions: `Is case ${turn % 3 === 0 ? 0 : turn} about money?` } },
      };
  const response = await fetch(`http://127.0.0.1:${port}/v1/${isRanking ? "rank" : "systemone"}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  if (response.status === 503) await sleep(300);
}

/** The service then starts another inference process. */
async function killLater(pid) {
  await sleep(SECONDS * KILL_AT * 1000);
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  for (const line of stdout.trim().split("\n")) {
    const [child, parent] = line.trim().split(/\s+/).map(Number);
    if (parent === pid) process.kill(child, "SIGKILL");
  }
}

/** @returns a line for each series: its name and its points [seconds, value] */
async function linesOf(prometheus, { targets }, range) {
  const results = targets.map(async ({ expr, legendFormat }) => {
    const query = expr.replaceAll("$__rate_interval", RATE_INTERVAL).replaceAll("$instance", ".*");
    const parameters = new URLSearchParams({ query, ...range });
    const response = await fetch(`${prometheus}/api/v1/query_range?${parameters}`);
    const { status, error, data } = await response.json();
    if (status !== "success") throw new Error(`${expr}: ${error}`);
    return data.result.map(({ metric, values }) => ({
      name: legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? ""),
      points: values.map(([at, value]) => [at, Number(value)]).filter(([, value]) => Number.isFinite(value)),
    }));
  });
  return (await Promise.all(results)).flat().filter(({ points }) => points.length > 0);
}
