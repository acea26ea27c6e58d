// Sends requests of random shapes to a service for some minutes, then the largest valid one, and samples the memory of
// both processes. `npm run build && node tools/soak.mjs [--minutes 10] [--callers 6] [--seed 1] [--plant leak]
// [-- flags of decision serve]`
//
// Memory is resident memory, with pages that both processes map counted once, sampled once per second, on Linux only.
// The end is the last 5 minutes; a run shorter than 8.4 minutes has less, the last 60 % of its time. Twice, after 40 %
// of the time and at the end, the script fills the caches with the same requests, makes both processes collect garbage,
// and measures the remaining memory. Growth between the two is a leak. `--plant leak` plants one.
//
// The exit code is 1 if a bound is broken, the service ends, or an answer is neither a 200 nor the expected refusal.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { median, quantile } from "../dist/bench/measure/statistics.js";
import { Random } from "../dist/bench/random.js";
import { REQUEST_LIMITS } from "../dist/src/decisions/request.js";
import { addTo, call, describe, runCallers, scoreQuestions, textOf } from "./calls.mjs";
import { hold, readFlags, runStages, show } from "./measurement.mjs";
import { startService } from "./service.mjs";

const SAMPLE_MS = 1_000;
/** Last samples that count as the end: memory swings by 40 MiB within seconds, so few of them say little. */
const END_SAMPLES = 300;
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
const { minCandidates, maxCandidates, maxQuestions, maxPairs, maxBodyBytes } = REQUEST_LIMITS;

const flags = readFlags({ minutes: 10, callers: 6, seed: 1, plant: undefined });
const { minutes, callers } = flags;
const random = new Random(flags.seed, "soak");
const folder = mkdtempSync(path.join(tmpdir(), "soak-"));
const service = await startService(flags.rest, {
  env: { TMPDIR: folder },
  plants: ["soak/live.cjs", ...(flags.plant ? [`soak/plant-${flags.plant}.cjs`] : [])],
});
const outcomes = {};
const unexpected = {};
const samples = [];
const agent = new Agent({ keepAlive: true });
const startedAt = performance.now();

await runStages({ soak });
rmSync(folder, { recursive: true, force: true });

async function soak() {
  await sleep(2_000);
  holdMib("ready", service.memoryOnce(), BOUNDS.ready);
  console.log("minute  requests  service MiB  inference MiB  both, shared pages once");
  await load(minutes * WARM_UP);
  const first = await settle();
  const begin = samples.length;
  await load(minutes * (1 - WARM_UP));
  const end = samples.slice(begin).slice(-END_SAMPLES);
  const last = await settle();
  await send(largestRequest());
  holdMib("under load, median of the last 5 minutes", median(end), BOUNDS.loaded);
  show("of these, a tenth above", `${quantile(end, 0.9).toFixed(0)} MiB`);
  show("under load, at most", `${Math.max(...samples).toFixed(0)} MiB`);
  holdMib("after the largest request", service.memoryOnce(), BOUNDS.loaded);
  for (const [at, name] of ["service", "inference"].entries())
    holdMib(`growth of the ${name} after garbage collection`, last[at] - first[at], BOUNDS.live);
  show("outcomes", describe(outcomes));
  hold("unexpected answers", Object.keys(unexpected).length, 0, describe(unexpected));
  hold("exit code", await service.end(), 0);
}

function holdMib(what, mib, bound) {
  hold(`${what} in MiB`, mib, bound, mib.toFixed(0));
}

/** Sends random requests from all callers and samples memory. */
async function load(lastingMinutes) {
  const until = performance.now() + lastingMinutes * 60_000;
  const isOver = () => performance.now() >= until;
  const ended = runCallers(callers, isOver, () =>
    send(nextRequest(), random.next() < 0.05 ? AbortSignal.timeout(random.between(0, 199)) : undefined),
  );
  while (!isOver()) {
    await sleep(SAMPLE_MS);
    const [both, each] = [service.memoryOnce(), service.memory()];
    samples.push(both);
    if (samples.length % SHOWN_EVERY !== 0) continue;
    const minute = ((performance.now() - startedAt) / 60_000).toFixed(1);
    const answered = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
    const cells = [minute, answered, ...[each.service, each.inference, both].map(Math.round)];
    console.log(cells.map((cell, at) => String(cell).padStart([6, 10, 13, 15, 25][at])).join(""));
  }
  await ended;
}

/** Memory in MiB of both processes with the same cache content after garbage collection. */
async function settle() {
  for (let at = 0; at < 6; at += 1) {
    const state = `fixed ${at} ${textOf(new Random(at, "fixed"), 1000)}`;
    await send({
      target: "/v1/rank",
      body: { state, question: "which", candidates: ["a", "b"] },
      wanted: 200,
    });
  }
  const pids = [service.pid, ...service.inferencePids()];
  const files = pids.map((pid) => path.join(folder, `memory.${pid}`));
  for (const file of files) rmSync(file, { force: true });
  for (const pid of pids) process.kill(pid, "SIGUSR2");
  while (!files.every(existsSync)) await sleep(100);
  return files.map((file) => JSON.parse(readFileSync(file, "utf8")).live / MIB);
}

/** Sends a request, and counts and checks its outcome. */
async function send({ target, body, wanted }, signal) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const { status } = await call(service.port, { target, body: text, agent, signal });
  const outcome = signal?.aborted ? "aborted by the caller" : status;
  addTo(outcomes, outcome);
  if (outcome === status && status !== wanted) addTo(unexpected, `${status} for ${wanted}`);
}

/** Mostly small requests; some at the limits, some refused. A third of the states recur. */
function nextRequest() {
  const kind = random.next();
  const [systemone, rank] = ["/v1/systemone", "/v1/rank"];
  if (kind < 0.02) {
    const body = `{"state":[${'{"a":1},'.repeat(random.between(0, 199_999))}1]}`;
    return { target: systemone, body, wanted: 422 };
  }
  if (kind < 0.04) {
    const state = textOf(random, random.between(3000, 12_000));
    return { target: rank, body: { state, candidates: ["a", "b"] }, wanted: 422 };
  }
  const state =
    random.next() < 0.33
      ? `state ${random.between(0, 19)} ${"of the parcel ".repeat(1 + random.between(0, 2) * 200)}`
      : words(1200);
  if (kind < 0.3) {
    const length = minCandidates + size(maxCandidates - minCandidates);
    const candidates = Array.from({ length }, (_, at) => `${at} ${words(60)}`);
    return { target: rank, body: { state, question: words(80), candidates }, wanted: 200 };
  }
  const questions = Array.from({ length: 1 + size(7) }, (_, at) => [`q${at}`, nextQuestion()]);
  return { target: systemone, body: { state, questions: Object.fromEntries(questions) }, wanted: 200 };
}

function nextQuestion() {
  const instructions = words(60);
  if (random.next() < 0.4) return { type: "noul", instructions };
  const criteria = Array.from({ length: 2 + size(20) }, (_, at) => `${at} ${words(30)}`);
  return { type: "score", instructions, criteria };
}

/** A number from 0 to `most`; small ones are far more likely. */
function size(most) {
  return Math.floor((most + 1) * random.next() ** 4);
}

function words(most) {
  return textOf(random, 1 + size(most));
}

/** A request with the most questions and pairs, a long state and the largest body allowed. */
function largestRequest() {
  const sizes = { questions: maxQuestions, words: 8, criteria: maxPairs / maxQuestions };
  const body = JSON.stringify({ state: textOf(random, 1500), questions: scoreQuestions(random, sizes) });
  return { target: "/v1/systemone", body: body.padEnd(maxBodyBytes, " "), wanted: 200 };
}
