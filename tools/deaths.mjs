// Tests killed processes and disconnecting clients under load, in a given number of rounds, against local services.
// `npm run build && node tools/deaths.mjs [--rounds 100] [--seed 1] [--only kills|stops|departures]`
//
//   kills       the inference process is killed: ready again within 2 s, every request gets its usual answer
//   stops       the service gets SIGTERM: every earlier request is answered, the exit code is 0
//   departures  1,000 clients disconnect: nothing is computed for them, the queue is empty (a twentieth of the rounds)
//
// The exit code is 1 if a bound is broken.
import { setMaxListeners } from "node:events";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "../dist/bench/measure/statistics.js";
import { Random } from "../dist/bench/random.js";
import { REQUEST_LIMITS } from "../dist/src/decisions/request.js";
import { addTo, call, describe, runCallers, scoreQuestions, textOf, until } from "./calls.mjs";
import { hold, readFlags, runStages, show } from "./measurement.mjs";
import { startService } from "./service.mjs";

/** Callers during kills. Chosen: further ones would only wait. */
const CALLERS = 12;
const READY_MS = 2_000;
/** Requests given up per death. Retries are computed alone, so a second death can hit at most one. */
const MOST_GIVEN_UP = 1;
/** Clients per round of departures. */
const CLIENTS = 1_000;
/** Time for the service to notice closed connections and for a batch to end. Chosen: a batch takes some 100 ms. */
const SETTLE_MS = 2_000;

const { rounds, seed, only } = readFlags({ rounds: 100, seed: 1, only: undefined });
const random = new Random(seed, "deaths");
await runStages({ kills, stops, departures }, only);

/** Kills the inference process, up to a second after it was ready. */
async function kills() {
  const service = await startService(["--log-level", "error"]);
  const { port } = service;
  const wanted = new Map();
  for (const body of bodies(24)) wanted.set(body, answersIn((await call(port, { body })).text));
  const isReady = async () => (await call(port, { target: "/ready" })).status === 200;
  const { answers, stop } = load(port, CALLERS, [...wanted.keys()]);
  const deaths = [];
  const readyMs = [];
  for (let round = 0; round < rounds; round += 1) {
    await sleep(random.between(0, 1_000));
    deaths.push(performance.now());
    process.kill(service.inferencePids()[0], "SIGKILL");
    await until(async () => !(await isReady()), "the service notices the death");
    await until(isReady, "it is ready again");
    readyMs.push(Math.round(performance.now() - deaths.at(-1)));
  }
  await stop();
  const givenUp = deaths.map(() => 0);
  for (const { status, endedAt } of answers)
    if (status === 500)
      givenUp[
        Math.max(
          0,
          deaths.findLastIndex((at) => at <= endedAt),
        )
      ] += 1;
  show("answers", statusesOf(answers));
  const longest = Math.max(...readyMs);
  hold("ready again in ms", longest, READY_MS, `${longest}, median ${median(readyMs)}`);
  hold("requests given up by one death", Math.max(...givenUp), MOST_GIVEN_UP);
  hold("requests lost", answers.filter(({ status }) => status !== 200 && status !== 500).length, 0);
  const isWrong = ({ status, body, text }) => status === 200 && answersIn(text) !== wanted.get(body);
  hold("answers that differ from those before", answers.filter(isWrong).length, 0);
  hold("exit code", await service.end(), 0);
}

/**
 * Sends SIGTERM to a service under load, a new one each round. A request sent before the signal must be answered with
 * 200, or with 503 if it was read after the signal.
 */
async function stops() {
  const before = [];
  const exitCodes = {};
  const tookMs = [];
  for (let round = 0; round < rounds; round += 1) {
    const service = await startService(["--log-level", "error"]);
    const { answers, stop } = load(service.port, random.between(1, 24), bodies(24));
    await sleep(random.between(50, 500));
    const signalledAt = performance.now();
    addTo(exitCodes, await service.end());
    tookMs.push(Math.round(performance.now() - signalledAt));
    await stop();
    before.push(...answers.filter(({ sentAt }) => sentAt < signalledAt));
  }
  show("answers to requests sent before the signal", statusesOf(before));
  show("longest time from the signal to the end", `${Math.max(...tookMs)} ms`);
  hold("requests lost", before.filter(({ status }) => status !== 200 && status !== 503).length, 0);
  hold("services that end with another code than 0", rounds - (exitCodes[0] ?? 0), 0, describe(exitCodes));
}

/**
 * A thousand clients send requests while the model is busy with a long one, and disconnect before their turn. Batches
 * have one request.
 */
async function departures() {
  const flags = ["--log-level", "error", "--queue-size", String(CLIENTS), "--max-batch-size", "1"];
  flags.push("--deadline-ms", "3600000"); // so that a slow machine refuses none
  const service = await startService(flags);
  const { port } = service;
  const { maxCandidates, maxPairs } = REQUEST_LIMITS;
  // half a minute of inference in many batches
  const sizes = { questions: maxPairs / maxCandidates, words: 600, criteria: maxCandidates };
  for (let round = 0; round < rounds / 20; round += 1) {
    const leaving = new AbortController();
    setMaxListeners(CLIENTS, leaving.signal);
    const ended = new AbortController();
    const before = await service.health();
    const body = JSON.stringify({ state: `long ${round}`, questions: scoreQuestions(random, sizes) });
    const long = call(port, { body, signal: ended.signal });
    await until(async () => (await service.health()).running_requests === 1, "the model is busy");
    const clients = bodies(CLIENTS).map((body) => call(port, { body, signal: leaving.signal }));
    await until(async () => (await service.health()).queued_requests === CLIENTS, "all of them wait");
    leaving.abort();
    await sleep(SETTLE_MS);
    const left = await service.health();
    ended.abort(); // the model is now free for requests that still wait
    await sleep(SETTLE_MS);
    const after = await service.health();
    show("answers", statusesOf([await long, ...(await Promise.all(clients))]));
    const cancelled = after.cancelled_requests - before.cancelled_requests;
    hold("long requests that ended too early for a test", 1 - left.running_requests, 0);
    hold("requests in the queue after the clients left", left.queued_requests, 0);
    hold("requests that run without a client", after.running_requests, 0);
    hold("requests computed without a client", after.completed_requests - before.completed_requests, 0);
    hold("batches computed without a client", after.model_batches - left.model_batches, 1);
    hold(
      "difference between the requests and those counted as cancelled",
      Math.abs(CLIENTS + 1 - cancelled),
      0,
    );
  }
  await service.end();
}

/** Starts callers of random bodies. @returns the answers so far, with their bodies; and how to stop */
function load(port, callers, bodies) {
  const answers = [];
  const agent = new Agent({ keepAlive: true });
  let isOver = false;
  const send = async () => {
    const body = random.pick(bodies);
    const answer = await call(port, { body, agent });
    answers.push({ ...answer, body });
    if (typeof answer.status !== "number") await sleep(20); // no connection
  };
  const ended = runCallers(callers, () => isOver, send).then(() => agent.destroy());
  const stop = () => {
    isOver = true;
    return ended;
  };
  return { answers, stop };
}

function answersIn(text) {
  return JSON.stringify(JSON.parse(text).answers);
}

/** Mostly short requests, some longer ones. */
function bodies(count) {
  return Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      state: `${at} ${textOf(random, at % 8 === 0 ? 300 : 20)}`,
      questions: scoreQuestions(random, { questions: 1, words: 4, criteria: 3 }),
    }),
  );
}

function statusesOf(answers) {
  const counts = {};
  for (const { status } of answers) addTo(counts, status);
  return describe(counts);
}
