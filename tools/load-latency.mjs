// Measures the latency of short requests at shares of the maximum rate (`--shares 0.6,0.7,0.8`), and how many times the
// latency of a request alone that is.
// `npm run build && node tools/load-latency.mjs [--shares 0.8] [--rounds 6] [--seconds 4] [--warm-up 40] [--callers 64]
// [--root another/checkout ... [--load-of another/checkout]] [-- flags of decision serve]`
//
// For each share, the maximum rate, the latency of one caller, the latency at the share and again the maximum rate
// follow one another. The speed of a machine with other guests changes within seconds. So the summary also has the
// median of the steady rounds: those in which the two maximum rates differ by less than 8 %. Before the first round,
// the service is saturated for `--warm-up` seconds. With several --root, the builds take turns; with --load-of, all get
// shares of the maximum rate of that build, which goes first in each round. Arrivals are random (Poisson).
import path from "node:path";
import { parseArgs } from "node:util";
import { closedLoop } from "../dist/bench/http/closed-loop.js";
import { Target } from "../dist/bench/http/target.js";
import { median } from "../dist/bench/measure/statistics.js";
import { SHORT } from "../dist/bench/workloads/fixed-sizes.js";
import { numberOf, refuse } from "./flags.mjs";
import { startService } from "./overload/service.mjs";
import { randomLoad } from "./random-load.mjs";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shares: { type: "string", default: "0.8" },
    rounds: { type: "string", default: "6" },
    seconds: { type: "string", default: "4" },
    "warm-up": { type: "string", default: "40" },
    callers: { type: "string", default: "64" },
    root: { type: "string", multiple: true, default: [path.join(import.meta.dirname, "..")] },
    "load-of": { type: "string" },
  },
});
const [rounds, seconds, warmUp, callers] = ["rounds", "seconds", "warm-up", "callers"].map((name) =>
  numberOf(flags, name),
);
const shares = flags.shares.split(",").map(Number);
if (!shares.every((share) => share > 0))
  refuse(`--shares must be numbers above 0 with commas between them, not ${JSON.stringify(flags.shares)}.`);
const loadOf = flags["load-of"];
if (loadOf !== undefined && !flags.root.includes(loadOf))
  refuse(`--load-of must be one of --root, not ${JSON.stringify(loadOf)}.`);
/** The build that sets the load goes first in each round. */
const roots = flags.root.toSorted((a, b) => Number(b === loadOf) - Number(a === loadOf));
/** Share of `--seconds` that each maximum rate and the latency of one caller take. */
const SHORTER = 1 / 2;
/** Requests of a measurement at a share, at least: a p99 needs 100 answers, and the number of arrivals is random. */
const FEWEST = 150;
/** Largest difference between the two maximum rates of a steady round. */
const STEADY = 0.08;
const { signal } = new AbortController();
let sent = 0;
const next = () => SHORT.request(1, sent++);

const builds = [];
for (const root of roots) {
  const service = await startService(root, positionals);
  const target = new Target(`http://127.0.0.1:${service.port}`);
  builds.push({ root, service, target, rows: [] });
}
for (const { target } of builds) await saturate(target, callers, warmUp);
console.log(
  "share  maximum/s  and after  alone p50  offered/s  p50      p99      p99 / alone  build (times in ms)",
);
for (let round = 0; round < rounds; round++)
  for (const share of shares) {
    let load;
    for (const build of builds) {
      const row = await measure(build.target, share, round, load);
      if (loadOf !== undefined) load ??= row.offered;
      build.rows.push(row);
      const { before, after, alone, offered, p50, p99, ratio } = row;
      const cells = [before, after, alone, offered, p50, p99, ratio].map((value) => value.toFixed(1));
      const widths = [7, 11, 11, 11, 11, 9, 9, 13, 0];
      console.log([share, ...cells, build.root].map((cell, at) => String(cell).padEnd(widths[at])).join(""));
    }
  }
for (const { root, service, target, rows } of builds) {
  for (const share of shares) {
    const all = rows.filter((row) => row.share === share);
    const steady = all.filter(({ before, after }) => Math.abs(after / before - 1) < STEADY);
    console.log(
      `p99 at ${share} of the maximum${loadOf === undefined ? "" : ` of ${loadOf}`}, times alone: ${summaryOf(all)}; steady rounds: ${summaryOf(steady)} ${root}`,
    );
  }
  target.close();
  await service.end();
}

async function measure(target, share, round, load) {
  const { rate: before } = await saturate(target, callers, seconds * SHORTER);
  const { p50: alone } = (await saturate(target, 1, seconds * SHORTER)).summary;
  const offered = load ?? before * share;
  const { p50, p99 } = await offer(target, offered, round);
  const { rate: after } = await saturate(target, callers, seconds * SHORTER);
  return { share, before, after, alone, offered, p50, p99, ratio: p99 / alone };
}

function summaryOf(rows) {
  const ratios = rows.map(({ ratio }) => ratio).filter(Number.isFinite);
  if (ratios.length === 0) return "none";
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(1));
  return `median ${median(ratios).toFixed(1)} (${least} .. ${most}, ${ratios.length} rounds)`;
}

/** Callers that send, wait for the answer and send again. */
async function saturate(target, count, forSeconds) {
  const limits = { budgetMs: 1000 * forSeconds, maxRequests: Number.POSITIVE_INFINITY };
  const { latencies, outcomes, elapsedMs } = await closedLoop(target, {
    callers: count,
    next,
    signal,
    ...limits,
  });
  expectAnswers(latencies, outcomes);
  return { rate: (1000 * latencies.count) / elapsedMs, summary: latencies.summary() };
}

async function offer(target, rate, seed) {
  const ms = 1000 * Math.max(seconds, FEWEST / rate);
  const { latencies, outcomes } = await randomLoad(target, { rate, ms, seed, next }).send();
  expectAnswers(latencies, outcomes);
  const { p50, p99 } = latencies.summary();
  return { p50, p99: p99 ?? Number.NaN }; // of fewer than 100 answers there is none
}

function expectAnswers(latencies, outcomes) {
  if (outcomes.answers !== latencies.count) console.log(JSON.stringify(outcomes.counts()));
}
