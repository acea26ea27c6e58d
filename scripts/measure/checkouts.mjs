// Compares the start time and the latency of a short request of two built checkouts.
//
//     node scripts/measure/checkouts.mjs --a FOLDER [--b .] [--starts 20] [--pairs 200] [--requests 20]
//
// Starts are measured in pairs of alternating order, and so are groups of requests to two running services, so that
// other load affects both alike. Each pair gives a ratio b / a. The output has the medians of both sides, the median
// ratio, and its 95 % bootstrap interval (2,000 samples of the pairs). Processor time is that of the whole service, in
// steps of 10 ms. Unlike wall-clock time it hardly depends on other load. `taskset -c 0` before the command keeps both
// services on one processor.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values: flags } = parseArgs({
  options: {
    a: { type: "string" },
    b: { type: "string", default: "." },
    starts: { type: "string", default: "20" },
    pairs: { type: "string", default: "200" },
    requests: { type: "string", default: "20" },
  },
});
if (flags.a === undefined) throw new Error("expected --a FOLDER, a built checkout");
if (!(Number(flags.starts) >= 2 && Number(flags.pairs) >= 1 && Number(flags.requests) >= 1))
  throw new Error("expected at least 2 starts, of which the first is not counted, 1 pair and 1 request");
const SIDES = ["a", "b"];
const TICK_MS = 10; // clock ticks per second, the same on every Linux that Node supports
const BODY = JSON.stringify({
  state: "My parcel never came. Where is it?",
  questions: { late: { type: "noul", instructions: "Is the parcel late?" } },
});

/** Processor time of a process and its living children in milliseconds, from /proc. */
function processorMs(pid) {
  const [user, system] = statOf(pid).slice(11, 13).map(Number);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return children.reduce((sum, child) => sum + processorMs(child), (user + system) * TICK_MS);
}

function statOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

class Service {
  #child;
  #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  /** Starts a service. Resolves when it is ready, with the time until then in milliseconds */
  static async start(folder) {
    const service = new Service();
    const startedAt = performance.now();
    const args = [path.join(folder, "bin/decision.js"), "serve", "--port", "0", "--log-level", "error"];
    service.#child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: service.#child.stdout })) {
      const url = /http:\/\/\S+/.exec(line)?.[0];
      if (url === undefined) continue;
      service.url = url;
      await service.ask("GET", "/ready");
      service.start = { clock: performance.now() - startedAt, processor: service.processorMs };
      return service;
    }
    throw new Error(`the service of ${folder} ended before it was ready`);
  }

  get processorMs() {
    return processorMs(this.#child.pid);
  }

  /** @returns milliseconds */
  async ask(method, where, body) {
    const startedAt = performance.now();
    const headers =
      body === undefined ? {} : { "content-type": "application/json", "content-length": body.length };
    const outgoing = request(this.url + where, { agent: this.#agent, method, headers });
    outgoing.end(body);
    const [answer] = await once(outgoing, "response");
    answer.resume();
    await once(answer, "end");
    if (answer.statusCode !== 200) throw new Error(`${where} answered ${answer.statusCode}`);
    return performance.now() - startedAt;
  }

  async end() {
    this.#agent.destroy();
    if (this.#child.exitCode !== null) return;
    this.#child.kill();
    await once(this.#child, "exit");
  }
}

const median = (values) => {
  const sorted = values.toSorted((one, other) => one - other);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

function tell(name, unit, pairs) {
  const ratios = pairs.map(({ a, b }) => b / a);
  const sampled = Array.from({ length: 2_000 }, () =>
    median(ratios.map(() => ratios[Math.floor(Math.random() * ratios.length)])),
  ).sort((one, other) => one - other);
  const at = (share) => sampled[Math.floor(share * (sampled.length - 1))].toFixed(3);
  const [a, b] = SIDES.map((side) => `${median(pairs.map((pair) => pair[side])).toFixed(2)} ${unit}`);
  console.log(
    `${name}: a ${a}, b ${b}, b / a ${median(ratios).toFixed(3)} (95 % within ${at(0.025)} to ${at(0.975)}; ${pairs.length} pairs)`,
  );
}

const inTurns = (index) => (index % 2 === 0 ? SIDES : SIDES.toReversed());

const starts = [];
for (let index = 0; index < Number(flags.starts); index += 1) {
  const pair = {};
  for (const side of inTurns(index)) {
    const service = await Service.start(flags[side]);
    pair[side] = service.start;
    await service.end();
  }
  if (index > 0) starts.push(pair); // not counted: the first start reads files that are in the page cache afterwards
}
for (const [name, kind] of [
  ["start", "clock"],
  ["start, processor time", "processor"],
])
  tell(
    name,
    "ms",
    starts.map(({ a, b }) => ({ a: a[kind], b: b[kind] })),
  );

const services = { a: await Service.start(flags.a), b: await Service.start(flags.b) };
try {
  const latencies = [];
  const before = {};
  for (let index = -5; index < Number(flags.pairs); index += 1) {
    if (index === 0) for (const side of SIDES) before[side] = services[side].processorMs;
    const pair = {};
    for (const side of inTurns(index & 1)) {
      const times = [];
      for (let count = 0; count < Number(flags.requests); count += 1)
        times.push(await services[side].ask("POST", "/v1/systemone", BODY));
      pair[side] = median(times);
    }
    if (index >= 0) latencies.push(pair);
  }
  tell("request, median of a group", "ms", latencies);
  const requests = Number(flags.pairs) * Number(flags.requests);
  const [a, b] = SIDES.map((side) => (services[side].processorMs - before[side]) / requests);
  console.log(
    `request, processor time: a ${a.toFixed(3)} ms, b ${b.toFixed(3)} ms, b / a ${(b / a).toFixed(3)} (${requests} requests each)`,
  );
} finally {
  await Promise.all(SIDES.map((side) => services[side].end()));
}
