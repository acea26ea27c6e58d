// Sends requests of random shapes to a service for many minutes, and records the resident memory of both processes.
// `npm run build && node scripts/measure/soak.mjs [--minutes 60] [--callers 6] [--seed 1] [-- flags of decision serve]`
//
// The state cache and the heap fill up first, so the slope is computed over the second half. A signal ends the run early, with
// a summary. Exit code 1: the run was stopped, the service ended, or an answer was neither a 200 nor the expected refusal. The
// report goes to stdout, problems to stderr.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { serviceMemory } from "../../dist/bench/http/resident-memory.js";
import { DIE_WITH_PARENT } from "../../dist/bench/http/server-process.js";
import { median, slope } from "../../dist/bench/measure/statistics.js";
import { Random } from "../../dist/bench/random.js";
import { describeCommit, describeMachine, describeVersions } from "../../dist/bench/report/machine.js";
import { REQUEST_LIMITS } from "../../dist/src/decisions/limits.js";

const SAMPLE_MS = 5_000;
/** Samples per line of the table. */
const SHOWN_EVERY = 6;
/** Share of the steady samples whose median represents the start, and the end. A single sample depends on garbage collection. */
const TENTH = 0.1;
/** Minimum duration for a slope per hour. Chosen. */
const LEAST_MINUTES = 5;
const MIB = 2 ** 20;
const WORDS =
  "the parcel printer customer refund late today paper order charged twice broken never again please".split(
    " ",
  );

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "60" },
    callers: { type: "string", default: "6" },
    seed: { type: "string", default: "1" },
  },
});
const [minutes, callerCount, seed] = ["minutes", "callers", "seed"].map(numberOf);

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
// with a channel, so that the service ends when this process ends in any way
const service = spawn(
  process.execPath,
  [
    "--import",
    `data:text/javascript,${encodeURIComponent(DIE_WITH_PARENT)}`,
    path.join(root, "bin/decision.js"),
    "serve",
    "--port",
    "0",
    ...positionals,
  ],
  { stdio: ["ignore", "pipe", "inherit", "ipc"] },
);
const ended = once(service, "exit");
const early = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, () => early.abort(`stopped by ${signal}`));
ended.then(() => early.abort("the service ended"));

const line = await Promise.race([firstLine(), aborted()]);
const { port } = new URL(/http:\S+/.exec(line ?? "")?.[0] ?? "http://none");
const startedAt = performance.now();
const endsAt = startedAt + minutes * 60_000;
const isOver = () => early.signal.aborted || performance.now() >= endsAt;
const random = new Random(seed, "soak");
const below = (count) => random.between(0, count - 1);
const counts = new Map();
const samples = [];
let unexpected = 0;

if (!early.signal.aborted) {
  console.log("minute  requests  service MiB  inference MiB");
  await Promise.all([sample(), ...Array.from({ length: callerCount }, call)]);
}
report();
const isWhole = !early.signal.aborted;
service.kill();
const [code] = await ended;
process.exitCode = isWhole && code === 0 && unexpected === 0 ? 0 : 1;

async function firstLine() {
  for await (const line of createInterface({ input: service.stdout })) return line;
}

function aborted() {
  return new Promise((resolve) => early.signal.addEventListener("abort", () => resolve()));
}

function numberOf(name) {
  const value = Number(flags[name]);
  if (value > 0) return value;
  console.error(`--${name} takes a number above 0, not ${JSON.stringify(flags[name])}.`);
  process.exit(2);
}

async function sample() {
  const rest = () => sleep(SAMPLE_MS, undefined, { signal: early.signal }).catch(() => {}); // it was stopped
  for (await rest(); !early.signal.aborted; await rest()) {
    const memory = serviceMemory(service.pid);
    if (memory === undefined) return;
    const minute = (performance.now() - startedAt) / 60_000;
    samples.push({ minute, service: memory.service / MIB, inference: memory.inference / MIB });
    if (samples.length % SHOWN_EVERY === 0) {
      const cells = [
        minute.toFixed(1),
        total(),
        ...[memory.service, memory.inference].map((bytes) => (bytes / MIB).toFixed(0)),
      ];
      console.log(cells.map((cell, at) => String(cell).padStart([6, 10, 13, 15][at])).join(""));
    }
    if (isOver()) return;
  }
}

async function call() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!isOver()) {
    const { path: target, body, wanted, leaves } = randomRequest();
    const status = await send(agent, target, body, leaves).catch((error) =>
      leaves ? "left" : String(error.code),
    );
    if (early.signal.aborted) break; // the service may be ending
    counts.set(status, (counts.get(status) ?? 0) + 1);
    if (status !== "left" && status !== wanted) {
      unexpected += 1;
      console.error(`expected ${wanted}, got ${status}`);
    }
  }
  agent.destroy();
}

function send(agent, target, body, leaves) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const outgoing = request({ port, method: "POST", path: target, agent, headers }, (response) => {
      response
        .resume()
        .on("end", () => resolve(response.statusCode))
        .on("error", reject);
    });
    outgoing.on("error", reject).end(body);
    if (leaves) setTimeout(() => outgoing.destroy(), below(200));
  });
}

/** Mostly small requests; some at the limits, some refused, some aborted by the caller. A third of the states recur. */
function randomRequest() {
  const kind = random.next();
  const leaves = random.next() < 0.05;
  if (kind < 0.02)
    return {
      path: "/v1/systemone",
      body: `{"state":[${'{"a":1},'.repeat(below(200_000))}1]}`,
      wanted: 422,
      leaves,
    };
  if (kind < 0.04)
    return {
      path: "/v1/rank",
      body: JSON.stringify({ state: text(3000 + below(9000)), candidates: ["a", "b"] }),
      wanted: 422,
      leaves,
    };
  const state =
    random.next() < 0.33
      ? `state ${below(20)} ${"of the parcel ".repeat(1 + below(3) * 200)}`
      : text(size(1200));
  if (kind < 0.3) {
    const { minCandidates, maxCandidates } = REQUEST_LIMITS;
    const candidates = Array.from(
      { length: minCandidates + size(maxCandidates - minCandidates) },
      (_, at) => `${at} ${text(size(60))}`,
    );
    return {
      path: "/v1/rank",
      body: JSON.stringify({ state, question: text(size(80)), candidates }),
      wanted: 200,
      leaves,
    };
  }
  const questions = Object.fromEntries(
    Array.from({ length: 1 + size(7) }, (_, at) => [`q${at}`, question()]),
  );
  return { path: "/v1/systemone", body: JSON.stringify({ state, questions }), wanted: 200, leaves };
}

function question() {
  const instructions = text(size(60));
  if (random.next() < 0.4) return { type: "noul", instructions };
  return {
    type: "score",
    instructions,
    criteria: Array.from({ length: 2 + size(20) }, (_, at) => `${at} ${text(size(30))}`),
  };
}

/** 0 to `most`, with small numbers far more likely. */
function size(most) {
  return Math.floor((most + 1) * random.next() ** 4);
}

function text(words) {
  return Array.from({ length: words + 1 }, () => WORDS[below(WORDS.length)]).join(" ");
}

function total() {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Summary: duration, requests, outcomes, and memory of both processes. */
function report() {
  const { cpu, usableProcessors } = describeMachine();
  const versions = describeVersions();
  const took = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const outcomes = [...counts].map(
    ([status, count]) => `${count} x ${status === "left" ? "left by the caller" : status}`,
  );
  const reason = early.signal.aborted ? `, ${early.signal.reason}` : "";
  console.log("");
  console.log(
    `${took} minutes${reason}: ${total()} requests of random shapes from ${callerCount} callers, seed ${seed}`,
  );
  console.log(`${outcomes.join(", ") || "no answers"}; ${unexpected} of them unexpected`);
  console.log(
    `${cpu}, ${usableProcessors} processors; package ${versions.package}, Node ${versions.node}, commit ${describeCommit() ?? "none"}`,
  );
  const steady = samples.slice(Math.floor(samples.length / 2));
  if (steady.length === 0) return console.log("too short for a look at memory");
  const few = Math.max(1, Math.floor(steady.length * TENTH));
  console.log("");
  console.log("resident MiB   half-way     end    most  an hour, in the second half");
  for (const name of ["service", "inference"]) {
    const all = samples.map((each) => each[name]);
    const late = steady.map((each) => each[name]);
    const span = late.length * (SAMPLE_MS / 60_000);
    const growth = slope(steady.map((each) => ({ x: each.minute / 60, y: each[name] })));
    const cells = [median(late.slice(0, few)), median(late.slice(-few)), Math.max(...all)].map((mib) =>
      mib.toFixed(0),
    );
    console.log(
      name.padEnd(13) +
        cells.map((cell, at) => cell.padStart([10, 8, 8][at])).join("") +
        (span < LEAST_MINUTES ? "-" : `${growth < 0 ? "" : "+"}${growth.toFixed(1)}`).padStart(9),
    );
  }
}
