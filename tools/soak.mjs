// Sends requests of random shapes to a service for some minutes, then the largest valid one, and samples the memory of
// both processes. `npm run build && node tools/soak.mjs [--minutes 10] [--callers 6] [--seed 1] [--plant leak]
// [-- flags of decision serve]`
//
// Memory is resident memory, with pages that both processes map counted once, sampled once per second, on Linux only.
// The end is the last 5 minutes; a run shorter than 8.4 minutes has less, the last 60 % of its time. Twice, after 40 %
// of the time and at the end, the script fills the caches with the same requests, makes both processes collect garbage,
// and measures the remaining memory. Growth between the two is a leak. `--plant leak` plants one.
//
// Exit code 1: a bound was exceeded, the run was stopped, the service ended, or an answer was neither a 200 nor the
// expected refusal. The report goes to stdout, problems to stderr.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median, quantile, slope } from "../dist/bench/measure/statistics.js";
import { describeCommit, describeMachine, describeVersions } from "../dist/bench/report/machine.js";
import { numberOf, refuse } from "./flags.mjs";
import { startService } from "./service.mjs";
import { fixedRequests, largestRequest, RandomRequests } from "./soak/requests.mjs";

const SAMPLE_MS = 1_000;
/** Last samples that count as the end: memory swings by 40 MiB within seconds, so few of them say little. */
const END_SAMPLES = 300;
const END = "under load, median of the last 5 minutes";
/** Samples per line of the table. */
const SHOWN_EVERY = 30;
/** Share of the time in which caches and heaps fill. */
const WARM_UP = 0.4;
const MIB = 2 ** 20;
/**
 * Bounds in MiB. `live` is the growth after garbage collection: the cache of tokens may use 8, and one more long state
 * may be held.
 */
const BOUNDS = { ready: 250, loaded: 600, live: 30 };

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "10" },
    callers: { type: "string", default: "6" },
    seed: { type: "string", default: "1" },
    plant: { type: "string" },
  },
});
const [minutes, callerCount, seed] = ["minutes", "callers", "seed"].map((name) => numberOf(flags, name));
if (![undefined, "leak"].includes(flags.plant))
  refuse(`--plant must be "leak", not ${JSON.stringify(flags.plant)}.`);

const here = path.dirname(fileURLToPath(import.meta.url));
const answers = mkdtempSync(path.join(tmpdir(), "soak-"));
const loaded = ["live.cjs", ...(flags.plant ? ["plant-leak.cjs"] : [])].map((name) =>
  JSON.stringify(path.join(here, "soak", name)),
);
const service = await startService(positionals, {
  env: { TMPDIR: answers, NODE_OPTIONS: loaded.map((file) => `--require ${file}`).join(" ") },
});
const { port } = service;
const early = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, () => early.abort(`stopped by ${signal}`));
service.exited.then(() => early.abort("the service ended"));

// before the run, as the checkout may change meanwhile
const [commit, versions] = [describeCommit() ?? "none", describeVersions()];
const counts = new Map();
const samples = [];
const faults = [];
const random = new RandomRequests(seed);
let unexpected = 0;
let startedAt = performance.now();

try {
  await soak();
} catch (error) {
  if (!early.signal.aborted) throw error;
  console.log(`${early.signal.reason} after ${elapsed().toFixed(1)} minutes: ${outcomes()}`);
}
const isWhole = !early.signal.aborted;
const code = await service.end();
rmSync(answers, { recursive: true, force: true });
for (const fault of faults) console.log(`BROKEN: ${fault}`);
process.exitCode = isWhole && code === 0 && unexpected === 0 && faults.length === 0 ? 0 : 1;

async function soak() {
  early.signal.throwIfAborted();
  await rest(2_000);
  const ready = both();
  judge("ready", ready.total, BOUNDS.ready);
  console.log("minute  requests  service MiB  inference MiB  both, shared pages once");
  startedAt = performance.now();
  await load(minutes * WARM_UP);
  const first = await settle();
  const begin = samples.length;
  await load(minutes * (1 - WARM_UP));
  const steady = samples.slice(begin).map(({ total }) => total);
  const end = steady.slice(-END_SAMPLES);
  judge(END, median(end), BOUNDS.loaded);
  const last = await settle();
  await send(largestRequest());
  const largest = both();
  judge("after the largest request", largest.total, BOUNDS.loaded);
  for (const name of ["service", "inference"])
    judge(`growth of the ${name} after garbage collection`, last[name] - first[name], BOUNDS.live);
  report({ ready, first, last, steady, end, largest });
}

/** Sends random requests from all callers and samples memory. */
async function load(lasting) {
  const until = performance.now() + lasting * 60_000;
  const isOver = () => early.signal.aborted || performance.now() >= until;
  await Promise.all([sample(isOver), ...Array.from({ length: callerCount }, () => call(isOver))]);
  early.signal.throwIfAborted();
}

/** Memory of both processes with the same cache content after garbage collection, in MiB. */
async function settle() {
  for (const each of fixedRequests()) await send(each);
  const pids = [service.pid, ...service.inferencePids()];
  const files = pids.map((pid) => path.join(answers, `memory.${pid}`));
  for (const file of files) rmSync(file, { force: true });
  for (const pid of pids) process.kill(pid, "SIGUSR2");
  while (!files.every(existsSync)) await rest(100);
  const [own, inference] = files.map((file) => JSON.parse(readFileSync(file, "utf8")).live / MIB);
  return { service: own, inference };
}

function both() {
  const total = service.memoryOnce();
  if (Number.isNaN(total)) refuse("This system does not report which pages processes share.");
  return { ...service.memory(), total };
}

function rest(ms) {
  return sleep(ms, undefined, { signal: early.signal });
}

function judge(what, value, bound) {
  if (!(value <= bound)) faults.push(`${what}: ${value.toFixed(1)} MiB, at most ${bound}`);
}

async function sample(isOver) {
  while (!isOver()) {
    await rest(SAMPLE_MS);
    const now = both();
    samples.push({ minute: elapsed(), ...now });
    if (samples.length % SHOWN_EVERY !== 0) continue;
    const cells = [
      elapsed().toFixed(1),
      total(),
      ...[now.service, now.inference, now.total].map((mib) => mib.toFixed(0)),
    ];
    console.log(cells.map((cell, at) => String(cell).padStart([6, 10, 13, 15, 25][at])).join(""));
  }
}

async function call(isOver) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!isOver()) await send(random.next(), agent);
  agent.destroy();
}

/** Sends a request, and counts and checks its outcome. */
async function send({ path: target, body, wanted, leaves = false }, agent) {
  const status = await exchange(agent, target, body, leaves).catch((error) =>
    leaves ? "left" : String(error.code),
  );
  if (early.signal.aborted) return; // the service may be ending
  counts.set(status, (counts.get(status) ?? 0) + 1);
  if (status === "left" || status === wanted) return;
  unexpected += 1;
  console.error(`expected ${wanted}, got ${status}`);
}

function exchange(agent, target, body, leaves) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const outgoing = request({ port, method: "POST", path: target, agent, headers }, (response) => {
      response
        .resume()
        .on("end", () => resolve(response.statusCode))
        .on("error", reject);
    });
    outgoing.on("error", reject).end(body);
    if (leaves) setTimeout(() => outgoing.destroy(), random.leaveMs());
  });
}

function elapsed() {
  return (performance.now() - startedAt) / 60_000;
}

function total() {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function outcomes() {
  const all = [...counts].map(
    ([status, count]) => `${count} x ${status === "left" ? "aborted by the caller" : status}`,
  );
  return `${all.join(", ") || "no answers"}; ${unexpected} of them unexpected`;
}

/** Summary: requests, outcomes, and memory of both processes. */
function report({ ready, first, last, steady, end, largest }) {
  const { cpu, usableProcessors } = describeMachine();
  const most = Math.max(...samples.map((each) => each.total));
  const growth = slope(steady.map((value, at) => ({ x: (at * SAMPLE_MS) / 60_000, y: value })));
  const row = (what, ...cells) =>
    console.log(what.padEnd(46) + cells.map((cell) => cell.padStart(11)).join(""));
  const mib = (value) => value.toFixed(0);
  console.log("");
  console.log(
    `${elapsed().toFixed(1)} minutes: ${total()} requests of random shapes from ${callerCount} callers, seed ${seed}`,
  );
  console.log(outcomes());
  console.log(
    `${cpu}, ${usableProcessors} processors; package ${versions.package}, Node ${versions.node}, commit ${commit}`,
  );
  console.log("");
  row("MiB", "service", "inference", "both", "bound");
  row("ready", mib(ready.service), mib(ready.inference), mib(ready.total), String(BOUNDS.ready));
  row(END, "", "", mib(median(end)), String(BOUNDS.loaded));
  row("of these, a tenth above", "", "", mib(quantile(end, 0.9)), "-");
  row("under load, at most", "", "", mib(most), "-");
  row(
    "after the largest request",
    mib(largest.service),
    mib(largest.inference),
    mib(largest.total),
    String(BOUNDS.loaded),
  );
  row("linear fit after the warm-up, per minute", "", "", growth.toFixed(1), "-");
  row("after garbage collection, first", first.service.toFixed(1), first.inference.toFixed(1), "", "-");
  row(
    "after garbage collection, last",
    last.service.toFixed(1),
    last.inference.toFixed(1),
    "",
    `+${BOUNDS.live}`,
  );
}
