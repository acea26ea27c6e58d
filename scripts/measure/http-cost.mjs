// Measures the processor time that HTTP costs a saturated service: the service process compared with the same contract
// called in this process. `npm run build && node scripts/measure/http-cost.mjs [--rounds 4] [--seconds 4]
// [--warm-up 15] [--callers 64] [--mix short] [--max-added 5]`
//
// First, both get requests for `--warm-up` seconds, since V8 compiles the code of a request only after thousands of them.
// Their scores are kept, so they need no time of the model. Then rounds alternate. On a saturated machine, the share of
// processor time that HTTP uses is the share of throughput that it costs. Unlike throughput, processor time can also be measured on a machine with other load. The callers' processor
// time does not count. The exit code is 1 if HTTP adds more than `--max-added` percent. Linux only.
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { median } from "../../dist/bench/measure/statistics.js";
import { createContractFor } from "../../dist/src/app.js";
import { createEngine } from "../../dist/src/engine.js";
import { completeOptions } from "../../dist/src/options/resolve.js";
import { numberOf } from "./flags.mjs";
import { requestSeries } from "./overload/requests.mjs";
import { cpuSecondsOf, startService } from "./overload/service.mjs";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "4" },
    seconds: { type: "string", default: "4" },
    "warm-up": { type: "string", default: "15" },
    callers: { type: "string", default: "64" },
    mix: { type: "string", default: "short" },
    "max-added": { type: "string", default: "5" },
  },
});
const [rounds, seconds, warmUp, callers, mostAdded] = [
  "rounds",
  "seconds",
  "warm-up",
  "callers",
  "max-added",
].map((name) => numberOf(flags, name));
/** Different requests of the warm-up. */
const KNOWN = 16;
/** Scores that both keep: those of the warm-up, whose requests have three candidates each. */
const CACHE_SIZE = 3 * KNOWN;

const service = await startService(path.join(import.meta.dirname, "../.."), [
  "--cache-size",
  String(CACHE_SIZE),
]);
const caller = fork(path.join(import.meta.dirname, "overload/caller.mjs"), { serialization: "advanced" });
const engine = await createEngine(completeOptions({ cacheSize: CACHE_SIZE }));
await engine.start();
const contract = await createContractFor(engine);

const costs = { http: [], inProcess: [] };
await overHttp({ seed: 1, ms: 1000 * warmUp, different: KNOWN });
await withoutHttp({ seed: 2, ms: 1000 * warmUp, different: KNOWN });
for (let round = 0; round < rounds; round++) {
  costs.http.push(await overHttp({ seed: 100 + round, ms: 1000 * seconds }));
  costs.inProcess.push(await withoutHttp({ seed: 200 + round, ms: 1000 * seconds }));
}
caller.kill();
await Promise.all([service.end(), engine.close()]);

const [http, inProcess] = [summary(costs.http), summary(costs.inProcess)];
const added = costs.http.map(
  (cost, at) => 100 * ((cost.serving - costs.inProcess[at].serving) / totalOf(costs.inProcess[at])),
);
console.log("processor time of a request, ms   serving   inference   answers/s");
console.log(row("over HTTP", http));
console.log(row("without HTTP", inProcess));
const spread = `${Math.min(...added).toFixed(1)} .. ${Math.max(...added).toFixed(1)}`;
console.log(
  `HTTP adds ${median(added).toFixed(1)} % of the processor time (${spread}), at most ${mostAdded} % expected`,
);
process.exit(median(added) <= mostAdded ? 0 : 1);

async function overHttp(load) {
  const before = cpuOf(service.pid);
  caller.send({ port: service.port, mode: "closed", callers, mix: flags.mix, ...load });
  const [report] = await once(caller, "message");
  return costOf(before, cpuOf(service.pid), report.statuses[200] ?? 0, report.elapsedMs);
}

async function withoutHttp({ seed, ms, different }) {
  const next = requestSeries(flags.mix, seed, different);
  let [answered, isOver] = [0, false];
  const before = cpuOf(process.pid);
  const startedAt = performance.now();
  const loop = async () => {
    while (!isOver) {
      if (different !== undefined) await turn(); // kept scores take no turn of the event loop, and no timer would fire
      const [, ...parts] = next(true).parts;
      const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
      const { signal } = new AbortController();
      const { status } = await contract.call({ operationId: "systemone", requestId: "cost", signal, body });
      if (status === 200 && !isOver) answered += 1;
    }
  };
  const loops = Array.from({ length: callers }, loop);
  await sleep(ms);
  isOver = true;
  const cost = costOf(before, cpuOf(process.pid), answered, performance.now() - startedAt);
  await Promise.all(loops);
  return cost;
}

/** Processor seconds of a process and of its inference process. */
function cpuOf(pid) {
  const { own, below } = cpuSecondsOf(pid, [service.pid, caller.pid]);
  return { serving: own, inference: below };
}

function costOf(before, after, answered, elapsedMs) {
  const each = (name) => (1000 * (after[name] - before[name])) / answered;
  return { serving: each("serving"), inference: each("inference"), rate: (1000 * answered) / elapsedMs };
}

function totalOf({ serving, inference }) {
  return serving + inference;
}

function summary(all) {
  return Object.fromEntries(
    ["serving", "inference", "rate"].map((name) => [name, median(all.map((each) => each[name]))]),
  );
}

function row(name, { serving, inference, rate }) {
  return `${name.padEnd(33)} ${serving.toFixed(2).padStart(7)} ${inference.toFixed(2).padStart(11)} ${rate.toFixed(0).padStart(11)}`;
}
