// Requests of random shapes for many minutes against a service of its own, and the resident memory of both its processes.
// `npm run build && node scripts/soak.mjs [--minutes 60] [--callers 6] [--seed 1] [-- flags of decision serve]`
//
// The state cache and the heap fill up first; hence the slope, in MiB an hour, is that of the second half. Ends with 1 if
// an answer was neither a 200 nor a refusal that the request had asked for.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const SAMPLE_MS = 5_000;
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
const endsAt = performance.now() + Number(flags.minutes) * 60_000;
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const service = spawn(
  process.execPath,
  [path.join(root, "bin/decision.js"), "serve", "--port", "0", ...positionals],
  {
    stdio: ["ignore", "pipe", "inherit"],
  },
);
process.on("exit", () => service.kill());
const [line] = await once(createInterface({ input: service.stdout }), "line");
const { port } = new URL(/http:\S+/.exec(line)?.[0] ?? "");
const processes = () => [service.pid, ...childrenOf(service.pid)];
const random = seeded(Number(flags.seed));
const below = (count) => Math.floor(random() * count);
const counts = new Map();
let unexpected = 0;

const samples = [];
console.log("minute  requests  service MiB  inference MiB");
const callers = Array.from({ length: Number(flags.callers) }, call);
const sampling = sample();
await Promise.all(callers);
await sampling;
report();
service.kill();
const [code] = await once(service, "exit");
process.exitCode = code === 0 && unexpected === 0 ? 0 : 1;

async function sample() {
  for (let at = performance.now(); at < endsAt; at = performance.now()) {
    await sleep(SAMPLE_MS);
    const [own, inference = 0] = processes().map(residentMiB);
    const minute = Number(flags.minutes) - (endsAt - performance.now()) / 60_000;
    samples.push({ minute, own, inference });
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const cells = [minute.toFixed(1), total, own.toFixed(0), inference.toFixed(0)];
    if (samples.length % 6 === 0)
      console.log(cells.map((cell, at) => String(cell).padStart([6, 10, 13, 15][at])).join(""));
  }
}

async function call() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (performance.now() < endsAt) {
    const { path: target, body, wanted, leaves } = randomRequest();
    const status = await send(agent, target, body, leaves).catch((error) =>
      leaves ? "left" : String(error.code),
    );
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

/** Mostly small, some at the limits, some refused, some left by their caller; a third of the states come again. */
function randomRequest() {
  const kind = random();
  const leaves = random() < 0.05;
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
    random() < 0.33 ? `state ${below(20)} ${"of the parcel ".repeat(1 + below(3) * 200)}` : text(size(1200));
  if (kind < 0.3) {
    const candidates = Array.from({ length: 2 + size(62) }, (_, at) => `${at} ${text(size(60))}`);
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
  if (random() < 0.4) return { type: "noul", instructions };
  return {
    type: "score",
    instructions,
    criteria: Array.from({ length: 2 + size(20) }, (_, at) => `${at} ${text(size(30))}`),
  };
}

/** 0 to `most`, small ones far more often. */
function size(most) {
  return Math.floor((most + 1) * random() ** 4);
}

function text(words) {
  return Array.from({ length: words + 1 }, () => WORDS[below(WORDS.length)]).join(" ");
}

function report() {
  const late = samples.slice(Math.floor(samples.length / 2));
  for (const name of ["own", "inference"]) {
    const top = Math.max(...samples.map((each) => each[name]));
    const change = slope(late.map((each) => [each.minute / 60, each[name]]));
    console.log(
      `${name === "own" ? "service" : "inference"}: at most ${top.toFixed(0)} MiB, ${change.toFixed(1)} MiB an hour in the second half`,
    );
  }
  console.log(
    `answers: ${[...counts].map(([status, count]) => `${count} x ${status}`).join(", ")}; unexpected: ${unexpected}`,
  );
}

/** Of the line through points by least squares. */
function slope(points) {
  const mean = (axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

function childrenOf(pid) {
  const said = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
  const rows = said.split("\n").map((row) => row.trim().split(/\s+/));
  return rows
    .filter(([, parent, ...args]) => Number(parent) === pid && args.join(" ").includes("onnx/process"))
    .map(([child]) => Number(child));
}

function residentMiB(pid) {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1024;
}

/** mulberry32, as in test/support/seeded-random.ts. */
function seeded(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
