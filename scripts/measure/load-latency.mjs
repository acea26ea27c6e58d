// Measures the latency of short requests at a share of the maximum rate, and how many times the latency of a request alone that is.
// `npm run build && node scripts/measure/load-latency.mjs [--share 0.8] [--rounds 6] [--seconds 15] [--warm-up 40] [--callers 64]
// [--root another/checkout ...] [-- flags of decision serve]`
//
// In each round, the maximum rate, the latency of one caller and the latency at the share follow one another, because the
// speed of a machine with other guests changes within minutes. Before the first round, the service is saturated for
// `--warm-up` seconds. With several --root, the builds take turns. Arrivals are random (Poisson).
import path from "node:path";
import { parseArgs } from "node:util";
import { closedLoop } from "../../dist/bench/http/closed-loop.js";
import { Target } from "../../dist/bench/http/target.js";
import { median } from "../../dist/bench/measure/statistics.js";
import { SHORT } from "../../dist/bench/workloads/fixed-sizes.js";
import { numberOf } from "./flags.mjs";
import { startService } from "./overload/service.mjs";
import { randomLoad } from "./random-load.mjs";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    share: { type: "string", default: "0.8" },
    rounds: { type: "string", default: "6" },
    seconds: { type: "string", default: "15" },
    "warm-up": { type: "string", default: "40" },
    callers: { type: "string", default: "64" },
    root: { type: "string", multiple: true, default: [path.join(import.meta.dirname, "../..")] },
  },
});
const [share, rounds, seconds, warmUp, callers] = ["share", "rounds", "seconds", "warm-up", "callers"].map(
  (name) => numberOf(flags, name),
);
/** Share of `--seconds` that the maximum rate and the latency of one caller take each. */
const SHORTER = 1 / 2;
const { signal } = new AbortController();
let sent = 0;
const next = () => SHORT.request(1, sent++);

const builds = [];
for (const root of flags.root) {
  const service = await startService(root, positionals);
  const target = new Target(`http://127.0.0.1:${service.port}`);
  builds.push({ root, service, target, ratios: [] });
}
for (const { target } of builds) await saturate(target, callers, warmUp);
console.log("maximum/s  alone p50  offered/s  p50      p99      p99 / alone  build (times in ms)");
for (let round = 0; round < rounds; round++)
  for (const build of builds) {
    const { target } = build;
    const { rate } = await saturate(target, callers, seconds * SHORTER);
    const { p50: alone } = (await saturate(target, 1, seconds * SHORTER)).summary;
    const { p50, p99 } = await offer(target, rate * share, round);
    build.ratios.push(p99 / alone);
    const cells = [rate, alone, rate * share, p50, p99, p99 / alone].map((value) => value.toFixed(1));
    console.log(
      [...cells, build.root].map((cell, at) => cell.padEnd([11, 11, 11, 9, 9, 13, 0][at])).join(""),
    );
  }
for (const { root, service, target, ratios } of builds) {
  const spread = `${Math.min(...ratios).toFixed(1)} .. ${Math.max(...ratios).toFixed(1)}`;
  console.log(`p99 at ${share} of the maximum: ${median(ratios).toFixed(1)} times alone (${spread}) ${root}`);
  target.close();
  await service.end();
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
  const { latencies, outcomes } = await randomLoad(target, { rate, ms: 1000 * seconds, seed, next }).send();
  expectAnswers(latencies, outcomes);
  return latencies.summary();
}

function expectAnswers(latencies, outcomes) {
  if (outcomes.answers !== latencies.count) console.log(JSON.stringify(outcomes.counts()));
}
