// Offers a service more than it can answer, and measures what callers see: the bounds of docs/reliability.md.
// `npm run build && node tools/overload.mjs [--only tenfold|heavy|unfinished] [--seconds 40] [--mix short|every]
//   [--times 10] [--connections 1000] [--metrics-port 9464] [-- flags of decision serve]`
//
//   tenfold     measures the capacity with callers that wait for their answers, then sends ten times as many requests at
//               random times, half of them on kept connections and half with a connection each, and polls /health and
//               /ready meanwhile
//   heavy       400 callers of heavy requests, who come back when Retry-After says
//   unfinished  8,000 posts without their last byte
//
// The exit code is 1 if a bound is broken. Linux only.
import { Agent } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { quantile } from "../dist/bench/measure/statistics.js";
import { Random } from "../dist/bench/random.js";
import { REQUEST_LIMITS } from "../dist/src/decisions/request.js";
import { addTo, call, describe, runCallers, scoreQuestions, textOf, until } from "./calls.mjs";
import { hold, readFlags, runStages, show } from "./measurement.mjs";
import { startService } from "./service.mjs";

/** Longest wait for answers after the last request. */
const PATIENCE_MS = 75_000;
const CAPACITY = { callers: 64, seconds: 8 };
const PROBE = { everyMs: 20, p99Ms: 100 };
const QUEUE_TIMES = 3;
const HEAVY = { callers: 400, seconds: 15, rounds: 2, words: 600, questions: 32, criteria: 8 };
/** The share of requests answered without a flood that must be answered during one. */
const LEAST_SHARE = 0.9;
const UNFINISHED = { count: 8000, bytes: 64_000, mostMib: 200 };

const QUESTIONS = {
  intent: {
    type: "choice",
    instructions: "What does the customer want?",
    criteria: {
      refund: "Wants money back",
      delivery: "Asks where a parcel is",
      other: "Wants something else",
    },
  },
};
/** Kinds of requests with their shares: words of the state, bytes to which white space extends the body. */
const SHORT = { share: 1, words: [10, 40] };
const MIXES = {
  short: [SHORT],
  every: [
    { share: 0.2, words: [100, 800] },
    { share: 0.07, words: [10, 40], bytes: [8_192, 65_536] },
    { share: 0.02, words: [10, 40], bytes: [65_537, REQUEST_LIMITS.maxBodyBytes] },
    { share: 0.01, words: [10, 40], isBroken: true },
    SHORT,
  ],
};

if (isMainThread) await main();
else parentPort.postMessage(await load(workerData));

async function main() {
  const flags = readFlags({
    only: undefined,
    seconds: 40,
    mix: "short",
    times: 10,
    connections: 1000,
    "metrics-port": 9464,
  });
  const stages = { tenfold, heavy, unfinished };
  await runStages(
    Object.fromEntries(Object.entries(stages).map(([name, stage]) => [name, () => stage(flags)])),
    flags.only,
  );
}

async function tenfold({ seconds, mix, times, connections, "metrics-port": metricsPort, rest }) {
  const service = await startService(["--metrics-port", String(metricsPort), ...rest]);
  const { port } = service;
  const isIdle = async () => {
    const { queued_requests, running_requests } = await service.health();
    return queued_requests + running_requests === 0;
  };
  const closed = await inThread({ port, mix, connections, ...CAPACITY });
  const capacity = closed.inTime / CAPACITY.seconds;
  show("capacity", `${capacity.toFixed(1)} answers/s`);
  await until(isIdle, "the queue is empty");
  const before = await service.health();
  const stopProbe = probe(metricsPort);
  const open = await inThread({ port, mix, connections, seconds, rate: capacity * times });
  const probed = await stopProbe();
  await until(isIdle, "the queue is empty");
  const after = await service.health();
  const rate = open.inTime / seconds;
  show("answers", describe(open.statuses));
  show(
    "answered with 200",
    `${rate.toFixed(1)}/s, ${((100 * rate) / capacity).toFixed(0)} % of the capacity`,
  );
  hold("other answers, requests without an answer", total(open.faults), 0, describe(open.faults));
  const bound = (QUEUE_TIMES * before.queue_capacity * 1000) / rate;
  holdMs("p99 of the answers with 200", open.latencies, Math.round(bound));
  for (const [kind, latencies] of Object.entries(probed.latencies))
    holdMs(`p99 of /health and /ready on ${kind} connections`, latencies, PROBE.p99Ms);
  hold("/health and /ready without a 200", total(probed.faults), 0, describe(probed.faults));
  const counted = {
    completed_requests: 200,
    rejected_requests: 503,
    timed_out_requests: 504,
    failed_requests: 500,
  };
  for (const [name, status] of Object.entries(counted)) {
    const [own, seen] = [after[name] - before[name], open.statuses[status] ?? 0];
    hold(`difference between ${name} and the answers with ${status}`, Math.abs(own - seen), 0);
  }
  hold("exit code", await service.end(), 0);
}

/** Runs `load` in a thread of its own, so that the load does not delay the probe. */
function inThread(order) {
  return new Promise((resolve, reject) => {
    new Worker(new URL(import.meta.url), { workerData: order }).on("message", resolve).on("error", reject);
  });
}

/**
 * Sends requests for some seconds: at random times if there is a rate, else from callers that wait for each answer. Half
 * of the connections are kept, half are for one request. A request that waits for a connection is late.
 */
async function load({ port, mix, connections, callers, seconds, rate }) {
  const random = new Random(1, mix, rate ?? 0);
  const agents = [true, false].map(
    (keepAlive) => new Agent({ keepAlive, maxSockets: connections / 2, scheduling: "fifo" }),
  );
  const seen = { statuses: {}, faults: {}, latencies: [], inTime: 0 };
  let underWay = 0;
  const endsAt = performance.now() + seconds * 1000;
  const send = async (agent, dueAt = performance.now()) => {
    const { body, isBroken } = requestOf(random, mix);
    underWay += 1;
    const { status, headers, endedAt } = await call(port, { body, agent });
    underWay -= 1;
    const isExpected = [isBroken ? 422 : 200, 503, 504].includes(status);
    if (!isExpected) addTo(seen.faults, status);
    if (status === 503 && !headers["retry-after"]) addTo(seen.faults, "503 without Retry-After");
    if (typeof status === "number") addTo(seen.statuses, status);
    if (status === 200) seen.latencies.push(endedAt - dueAt);
    if (status === 200 && endedAt < endsAt) seen.inTime += 1;
  };
  if (rate === undefined) {
    const isOver = () => performance.now() >= endsAt;
    await runCallers(callers, isOver, () => send(agents[0]));
  } else {
    for (let dueAt = performance.now(); performance.now() < endsAt; await sleep(2))
      for (; dueAt < performance.now(); dueAt += (-Math.log(1 - random.next()) * 1000) / rate)
        void send(random.pick(agents), dueAt);
    for (const patientUntil = endsAt + PATIENCE_MS; underWay > 0 && performance.now() < patientUntil; )
      await sleep(20);
  }
  if (underWay > 0) seen.faults["no answer"] = underWay;
  for (const agent of agents) agent.destroy();
  return seen;
}

/** A request of a mix: its body, and whether that is no JSON. */
function requestOf(random, mix) {
  let at = random.next();
  const kind = MIXES[mix].find(({ share }) => {
    at -= share;
    return at < 0;
  });
  const { words, bytes, isBroken = false } = kind ?? SHORT;
  const state = `${random.next()} ${textOf(random, sizeIn(random, words))}`;
  const text = JSON.stringify({ state, questions: QUESTIONS });
  if (isBroken) return { isBroken, body: text.slice(0, -1) };
  return { isBroken, body: bytes ? text.padEnd(sizeIn(random, bytes)) : text };
}

/** A log-uniform size: 8 to 16 KiB is as likely as 32 to 64. */
function sizeIn(random, [least, most]) {
  return Math.round(least * (most / least) ** random.next());
}

/** Polls /health and /ready, half on a kept connection as a gateway does, half on new ones as an orchestrator does. */
function probe(port) {
  const agents = { kept: new Agent({ keepAlive: true }), new: new Agent() };
  const seen = { latencies: { kept: [], new: [] }, faults: {} };
  const calls = [];
  const ask = async () => {
    const kind = calls.length % 4 < 2 ? "kept" : "new";
    const target = calls.length % 2 === 0 ? "/health" : "/ready";
    const { status, sentAt, endedAt } = await call(port, { target, agent: agents[kind] });
    seen.latencies[kind].push(endedAt - sentAt);
    if (status !== 200) addTo(seen.faults, status);
  };
  const timer = setInterval(() => calls.push(ask()), PROBE.everyMs);
  return async () => {
    clearInterval(timer);
    await Promise.all(calls);
    agents.kept.destroy();
    return seen;
  };
}

/** Throughput of heavy requests with and without a flood of callers, in turn, because a machine's speed varies. */
async function heavy({ rest }) {
  const service = await startService(["--deadline-ms", "5000", ...rest]);
  await heavyLoad(service.port, 1, 3, {}); // warm-up, in which the service also measures its own speed
  const [alone, flooded] = [{}, {}];
  for (let round = 0; round < HEAVY.rounds; round += 1) {
    await heavyLoad(service.port, 2, HEAVY.seconds, alone);
    await heavyLoad(service.port, HEAVY.callers, HEAVY.seconds, flooded);
  }
  show("answers to 2 callers", describe(alone));
  show(`answers to ${HEAVY.callers} callers`, describe(flooded));
  const missing = 1 - (flooded[200] ?? 0) / alone[200];
  const shown = `${(100 * (1 - missing)).toFixed(0)} % are answered`;
  hold("share that is not answered because of the flood", missing, (1 - LEAST_SHARE).toFixed(2), shown);
  await service.end();
}

/** Callers of heavy requests. Refused ones wait as Retry-After says, or a second. Only answers within the time count. */
async function heavyLoad(port, callers, seconds, statuses) {
  const random = new Random(1, "heavy", performance.now());
  const agent = new Agent({ keepAlive: true });
  let isOver = false;
  setTimeout(() => {
    isOver = true;
    agent.destroy(); // the callers leave
  }, seconds * 1000);
  const sendOne = async () => {
    const body = JSON.stringify({
      state: textOf(random, HEAVY.words),
      questions: scoreQuestions(random, { ...HEAVY, words: 8 }),
    });
    const { status, headers } = await call(port, { body, agent });
    if (isOver) return;
    addTo(statuses, status);
    for (let left = status === 200 ? 0 : (headers?.["retry-after"] ?? 1) * 10; left > 0 && !isOver; left -= 1)
      await sleep(100);
  };
  await runCallers(callers, () => isOver, sendOne);
}

async function unfinished({ rest }) {
  const { count, bytes, mostMib } = UNFINISHED;
  for (const env of [{}, { DECISION_API_KEY: "secret" }]) {
    const service = await startService(rest, { env });
    const before = service.memory().service;
    const head = `POST /v1/systemone HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${bytes}`;
    const sockets = [];
    const answers = {};
    while (sockets.length < count) {
      const socket = connect(service.port, "127.0.0.1").on("error", () => {});
      socket.once("data", (answer) => addTo(answers, String(answer).slice(9, 12)));
      socket.write(`${head}\r\n\r\n${" ".repeat(bytes - 1)}`);
      sockets.push(socket);
      if (sockets.length % 20 === 0) await sleep(2);
    }
    await sleep(3000);
    show(env.DECISION_API_KEY ? "answers without the key" : "answers", describe(answers));
    const grown = Math.round(service.memory().service - before);
    hold(`growth in MiB by ${count} unfinished posts of ${bytes} bytes`, grown, mostMib);
    for (const socket of sockets) socket.destroy();
    hold("exit code", await service.end(), 0);
  }
}

function total(counts) {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function holdMs(what, latencies, bound) {
  const [median, p99, most] = [0.5, 0.99, 1].map((share) => Math.round(quantile(latencies, share)));
  hold(`${what} in ms`, p99, bound, `${p99}, median ${median}, longest ${most}`);
}
