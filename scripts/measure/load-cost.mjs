// Measures latency and processor time of a request at given rates of random arrivals (Poisson): for the serving process, for the
// inference process, and for this one, which sends. `npm run build && node scripts/measure/load-cost.mjs --rates 100,200
// [--seconds 8] [--rounds 1] [--workload short | --state 1000] [--root another/checkout ...] [-- flags of decision serve]`
//
// --state sends requests with 2 candidates and a new state of so many tokens. With several --root, each rate is measured
// on each build in turn. Linux only.
import path from "node:path";
import { parseArgs } from "node:util";
import { Target } from "../../dist/bench/http/target.js";
import { Random } from "../../dist/bench/random.js";
import { sized } from "../../dist/bench/workloads/fixed-sizes.js";
import { WORKLOADS } from "../../dist/bench/workloads/table.js";
import { cpuSecondsOf, startService } from "./overload/service.mjs";
import { randomLoad } from "./random-load.mjs";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rates: { type: "string" },
    seconds: { type: "string", default: "8" },
    rounds: { type: "string", default: "1" },
    workload: { type: "string", default: "short" },
    state: { type: "string" },
    root: { type: "string", multiple: true, default: [path.join(import.meta.dirname, "../..")] },
  },
});
const rates = (flags.rates ?? "").split(",").map(Number);
const workload =
  flags.state === undefined
    ? WORKLOADS.find(({ name }) => name === flags.workload)
    : newStates(Number(flags.state));
if (!workload || !rates.every((rate) => rate > 0))
  throw new Error(
    `--rates must be numbers of requests a second, --state a whole number of tokens above 2, and --workload one of ${WORKLOADS.map(({ name }) => name).join(", ")}`,
  );
let next = 0;

const services = [];
for (const root of flags.root) {
  const service = await startService(root, positionals);
  services.push({ root, service, target: new Target(`http://127.0.0.1:${service.port}`) });
}
const warmUpRate = flags.state === undefined ? 100 : rates[0];
for (const each of services) await measure(each, warmUpRate, 3000);
console.log("rate   p50     p99     serving  inference  sender   build (times in ms)");
for (let round = 0; round < Number(flags.rounds); round++)
  for (const rate of rates)
    for (const each of services) {
      const { p50, p99, costs, faults } = await measure(each, rate, Number(flags.seconds) * 1000);
      const cells = [
        rate,
        p50?.toFixed(1) ?? "-",
        p99?.toFixed(1) ?? "-", // of fewer than 100 requests there is none
        ...costs.map((cost) => cost.toFixed(2)),
        each.root,
      ];
      console.log(cells.map((cell, at) => String(cell).padEnd([7, 8, 8, 9, 11, 9, 0][at])).join(""), faults);
    }
for (const { service, target } of services) {
  target.close();
  await service.end();
}

/** Requests of which each has a state of its own. @returns undefined if no state has so many tokens */
function newStates(state) {
  if (!Number.isInteger(state) || state <= 2) return undefined; // its special tokens
  const sizes = { state, question: 12, candidate: 12, questions: 1, candidates: 2 };
  return { request: (seed, index) => sized(new Random(seed, "state", index), sizes) };
}

/** Sends at a rate for some milliseconds. Costs are milliseconds of processor time per request. */
async function measure({ service, target }, rate, ms) {
  const load = randomLoad(target, { rate, ms, seed: next, next: () => workload.request(1, next++) });
  const before = usage(service);
  const { latencies, outcomes } = await load.send();
  const costs = usage(service).map((seconds, at) => ((seconds - before[at]) / load.count) * 1000);
  const { p50, p99 } = latencies.summary();
  return {
    p50,
    p99,
    costs,
    faults: outcomes.answers === latencies.count ? "" : JSON.stringify(outcomes.counts()),
  };
}

/** Processor seconds of the serving process, the inference process and this one. */
function usage(service) {
  const { own, below } = cpuSecondsOf(service.pid);
  const { user, system } = process.cpuUsage();
  return [own, below, (user + system) / 1e6];
}
