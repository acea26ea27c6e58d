// Offers ten times the service's capacity, and measures what callers see and what refusals cost.
// `npm run build && node tools/overload.mjs [--times 10] [--seconds 40] [--connections 1000] [--mix every]
// [--only flood] [--metrics-port 9464]
//   [-- flags of decision serve]`
//
// Stages: `flood` measures the capacity with a closed loop, then offers a multiple of it from another process at random
// times, half of it on keep-alive connections and half with a connection per request, while a third process polls
// /health and /ready of the metrics port on both kinds. `refusals` fills the queue and counts refusals per second of
// processor time of the service process. `unfinished` holds 8,000 posts of 64,000 bytes open and measures memory. The
// exit code is 1 if a bound is exceeded. Linux only.
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { describeCommit, describeMachine, describeVersions } from "../dist/bench/report/machine.js";
import { REQUEST_LIMITS } from "../dist/src/decisions/request.js";
import { numberOf, refuse } from "./flags.mjs";
import { mixes } from "./overload/requests.mjs";
import { startService } from "./service.mjs";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: "string", default: "10" },
    seconds: { type: "string", default: "40" },
    "capacity-seconds": { type: "string", default: "8" },
    connections: { type: "string", default: "1000" },
    mix: { type: "string", default: "every" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    "metrics-port": { type: "string", default: "9464" },
  },
});
/** Longest wait for answers after the last request. */
const PATIENCE_MS = 75_000;
const CALLERS = 64;
/** Bounds that the measurement checks. */
const PROBE_P99_MS = 100;
const QUEUE_TIMES = 3;
const LEAST_REFUSALS = 10_000;
const REFUSALS_PER_ANSWER = 20;
const UNFINISHED_MIB = 200;

if (!mixes.includes(flags.mix)) refuse(`--mix must be one of ${mixes.join(", ")}, not ${flags.mix}.`);
const [times, seconds, capacitySeconds, connections, seed] = [
  "times",
  "seconds",
  "capacity-seconds",
  "connections",
  "seed",
].map((name) => numberOf(flags, name));
const broken = [];
let answersPerSecond = 0;

const { cpu, usableProcessors } = describeMachine();
const versions = describeVersions();
console.log(
  `${cpu}, ${usableProcessors} processors; package ${versions.package}, Node ${versions.node}, commit ${describeCommit() ?? "none"}`,
);
for (const [name, stage] of Object.entries({ flood, refusals, unfinished })) {
  if (flags.only !== undefined && flags.only !== name) continue;
  console.log(`\n${name}`);
  await stage();
}
console.log(broken.length === 0 ? "\nall bounds held" : `\nbroken: ${broken.join("; ")}`);
process.exitCode = broken.length === 0 ? 0 : 1;

async function flood() {
  const service = await start();
  const caller = child("caller");
  const { port } = service;
  const order = { port, mix: flags.mix };
  const closed = await ask(caller, {
    ...order,
    mode: "closed",
    callers: CALLERS,
    ms: capacitySeconds * 1000,
    warmUpMs: 1000,
    seed,
  });
  answersPerSecond = (closed.statuses[200] ?? 0) / (closed.elapsedMs / 1000);
  show("capacity", `${answersPerSecond.toFixed(1)} answers/s`, describe(closed));
  await emptied(service);
  const before = await service.health();
  const cpu = service.cpuSeconds().service;
  const probe = child("probe");
  probe.send({ port: flags["metrics-port"] });
  let residentMib = 0;
  const watch = setInterval(() => {
    residentMib = Math.max(residentMib, service.memory().service);
  }, 1000);
  const rate = answersPerSecond * times;
  const open = await ask(caller, {
    ...order,
    mode: "open",
    rate,
    ms: seconds * 1000,
    connections,
    seed: seed + 1,
    patienceMs: PATIENCE_MS,
  });
  const health = await ask(probe, {});
  clearInterval(watch);
  await emptied(service);
  const after = await service.health();
  const throughput = open.inTime / seconds;
  const latencyBound = (QUEUE_TIMES * before.queue_capacity * 1000) / throughput;
  show("offered", `${rate.toFixed(0)}/s for ${seconds} s on ${connections} connections`, describe(open));
  show(
    "answered with 200",
    `${throughput.toFixed(1)}/s, ${((100 * throughput) / answersPerSecond).toFixed(0)} % of the capacity`,
  );
  hold(
    `p99 of the 200s at most ${latencyBound.toFixed(0)} ms`,
    quantile(open.latencies, 0.99),
    latencyBound,
    quantiles(open.latencies),
  );
  for (const [kind, latencies] of Object.entries(health.latencies))
    hold(
      `p99 of /health and /ready on ${kind} connections at most ${PROBE_P99_MS} ms`,
      quantile(latencies, 0.99),
      PROBE_P99_MS,
      quantiles(latencies),
    );
  holdNone("neither resets nor lost requests nor other answers", open.faults);
  holdNone("/health and /ready always 200", health.faults);
  holdNone("counters agree", differences(open.statuses, before, after));
  show(
    "serving process",
    `${(service.cpuSeconds().service - cpu).toFixed(1)} s of processor time, at most ${residentMib.toFixed(0)} MiB resident`,
  );
  await end(service, [caller, probe]);
}

/** Differences between the counters of /health and those of the callers. */
function differences(statuses, before, after) {
  const pairs = { completed_requests: 200, rejected_requests: 503, timed_out_requests: 504 };
  const counted = Object.entries({ ...pairs, failed_requests: 500, cancelled_requests: undefined });
  return Object.fromEntries(
    counted.flatMap(([name, status]) => {
      const [own, seen] = [after[name] - before[name], statuses[status] ?? 0];
      return own === seen ? [] : [[`${name} ${own} for ${seen} answers`, Math.abs(own - seen)]];
    }),
  );
}

/** With one request running and one waiting, the queue is full: everything else is refused. */
async function refusals() {
  const service = await start("--queue-size", "1", "--max-batch-size", "1", "--deadline-ms", "3600000");
  const left = new AbortController();
  const fill = (at) => service.post(heavyRequest(at), left.signal).catch(() => {}); // its caller disconnects at the end
  void fill(0);
  await until(service, ({ running_requests }) => running_requests === 1);
  void fill(1);
  await until(service, ({ queued_requests }) => queued_requests === 1);
  const caller = child("caller");
  const before = await service.health();
  const cpu = service.cpuSeconds().service;
  const closed = await ask(caller, {
    port: service.port,
    mode: "closed",
    callers: CALLERS,
    ms: 8000,
    mix: "short",
    seed,
  });
  const spent = service.cpuSeconds().service - cpu;
  const after = await service.health();
  const refused = closed.statuses[503] ?? 0;
  show(
    "seen",
    describe(closed),
    `${(refused / (closed.elapsedMs / 1000)).toFixed(0)}/s beside the model and the callers`,
  );
  const bound = Math.max(LEAST_REFUSALS, REFUSALS_PER_ANSWER * answersPerSecond);
  const rate = refused / spent;
  hold(
    `at least ${bound.toFixed(0)} refusals per second of processor time`,
    bound,
    rate,
    `${rate.toFixed(0)}`,
  );
  const counted = after.rejected_requests - before.rejected_requests;
  const uncounted = counted < refused ? { [`${counted} counted`]: refused - counted } : {}; // plus those in progress at the end
  holdNone("every refusal counted", uncounted);
  left.abort();
  await end(service, [caller]);
}

/** A request with the most pairs allowed. */
function heavyRequest(at) {
  const { maxCandidates, maxPairs } = REQUEST_LIMITS;
  const level = (index) => `${index} ${"go ".repeat(700)}`;
  const question = (q) => ({
    type: "score",
    instructions: `part ${q}`,
    criteria: Array.from({ length: maxCandidates }, (_, i) => level(i)),
  });
  return {
    state: `heavy ${at}`,
    questions: Object.fromEntries(
      Array.from({ length: maxPairs / maxCandidates }, (_, q) => [`q${q}`, question(q)]),
    ),
  };
}

async function unfinished() {
  for (const env of [{}, { DECISION_API_KEY: "secret" }]) {
    const service = await startService(positionals, { env });
    const hasKey = "DECISION_API_KEY" in env;
    const caller = child("caller");
    const before = service.memory().service;
    const order = { mode: "unfinished", port: service.port, count: 8000, bytes: 64_000, ms: 3000 };
    await ask(caller, order);
    const grown = service.memory().service - before;
    const startedAt = performance.now();
    const status = hasKey ? 401 : 200;
    const other = await service
      .post({ state: "a", questions: { q: { type: "noul", instructions: "Is it late?" } } })
      .catch(String);
    const tookMs = performance.now() - startedAt;
    const report = await ask(caller, {});
    show(hasKey ? "with a key set, none sent" : "without a key", describe(report));
    hold(
      `at most ${UNFINISHED_MIB} MiB for 8,000 unfinished posts of 64,000 bytes`,
      grown,
      UNFINISHED_MIB,
      `${grown.toFixed(0)} MiB`,
    );
    show(
      "another request meanwhile",
      `${other.status ?? other} after ${tookMs.toFixed(0)} ms`,
      `expected ${status}, or 503 for want of a connection`,
    );
    await end(service, [caller]);
  }
}

function start(...own) {
  const flagged = [...own, "--metrics-port", flags["metrics-port"], ...positionals];
  return startService(flagged);
}

async function end(service, children) {
  for (const process of children) process.kill();
  if ((await service.end()) !== 0) broken.push("the service did not exit normally");
}

function child(name) {
  return fork(path.join(import.meta.dirname, "overload", `${name}.mjs`), { serialization: "advanced" });
}

async function ask(process, order) {
  process.send(order);
  const [answer] = await once(process, "message");
  return answer;
}

async function emptied(service) {
  await until(service, ({ queued_requests, running_requests }) => queued_requests + running_requests === 0);
}

async function until(service, isSo) {
  while (!isSo(await service.health())) await sleep(20);
}

function hold(what, value, bound, shown) {
  const holds = value <= bound;
  if (!holds) broken.push(what);
  console.log(`  ${holds ? "ok    " : "BROKEN"} ${what}: ${shown}`);
}

function holdNone(what, counts) {
  const found = Object.entries(counts).map(([name, count]) => `${count} x ${name}`);
  hold(what, found.length, 0, found.length === 0 ? "none" : found.join(", "));
}

function show(what, ...facts) {
  console.log(`         ${what}: ${facts.join("; ")}`);
}

function describe({ statuses, faults }) {
  const all = [...Object.entries(statuses), ...Object.entries(faults)];
  return all.map(([name, count]) => `${count} x ${name}`).join(", ");
}

function quantiles(latencies) {
  return [0.5, 0.99, 1]
    .map((share) => `${share === 1 ? "most" : `p${share * 100}`} ${quantile(latencies, share).toFixed(0)} ms`)
    .join(", ");
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.POSITIVE_INFINITY;
}
