// A process that sends requests and counts the answers. overload.mjs starts and controls it.
import { setTimeout as sleep } from "node:timers/promises";
import { Line } from "./line.mjs";
import { requestSeries } from "./requests.mjs";

const TICK_MS = 2;

const modes = { closed, open, unfinished };
process.on("message", async ({ mode, ...order }) => {
  if (mode !== undefined) process.send(await modes[mode](order));
});

/** Counts of answers, and latencies of those with 200 in milliseconds. */
class Tally {
  sent = 0;
  statuses = {};
  faults = {};
  latencies = [];
  /** Answers with 200 before the last request was sent. */
  inTime = 0;
  startedAt = performance.now();

  /** @param ms duration of sending */
  constructor(ms = Number.POSITIVE_INFINITY) {
    this.endsAt = this.startedAt + ms;
  }

  /** @param sentAt the intended send time */
  add({ status, headers, fault }, sentAt, isBroken) {
    if (fault !== undefined) this.#count(this.faults, fault);
    else {
      this.#count(this.statuses, status);
      if (status === 200) this.latencies.push(performance.now() - sentAt);
      if (status === 200 && performance.now() < this.endsAt) this.inTime += 1;
      if (status === 503 && !headers.includes("\r\nretry-after: "))
        this.#count(this.faults, "503 without Retry-After");
      const expected = isBroken ? [422, 503, 504] : [200, 503, 504];
      if (!expected.includes(status)) this.#count(this.faults, `unexpected ${status}`);
    }
  }

  get answered() {
    return Object.values(this.statuses).reduce((sum, count) => sum + count, 0);
  }

  report() {
    const { sent, statuses, faults, latencies, startedAt } = this;
    return { sent, statuses, faults, latencies, elapsedMs: performance.now() - startedAt };
  }

  #count(counts, name) {
    counts[name] = (counts[name] ?? 0) + 1;
  }
}

/** Closed loop: callers that send, wait for the answer and send again. Requests in progress at the end do not count. */
async function closed({ port, callers, ms, mix, seed, warmUpMs = 0 }) {
  const next = requestSeries(mix, seed);
  let tally = new Tally();
  let isOver = false;
  const lines = Array.from({ length: callers }, () => {
    let [sentAt, isBroken] = [0, false];
    const line = new Line(port);
    const send = () => {
      const request = next(true);
      sentAt = performance.now();
      ({ isBroken } = request);
      line.send(request.parts);
    };
    line.onOutcome = (outcome) => {
      if (isOver) return;
      tally.add(outcome, sentAt, isBroken);
      if (outcome.fault === undefined) whenFree(line, send);
    };
    send();
    return line;
  });
  await sleep(warmUpMs);
  tally = new Tally();
  await sleep(ms);
  isOver = true;
  const report = tally.report();
  for (const line of lines) line.close();
  return report;
}

function whenFree(line, act) {
  if (line.isFree) act();
  else setTimeout(() => whenFree(line, act), TICK_MS);
}

/**
 * Open loop: requests at random times, half on keep-alive connections and half with a new connection each. If all
 * connections are in use, a request waits here, which counts as latency.
 */
async function open({ port, rate, ms, connections, mix, seed, patienceMs }) {
  const next = requestSeries(mix, seed);
  const tally = new Tally(ms);
  const pool = { port, free: [], kept: 0, single: 0, most: connections / 2 };
  const waiting = [];
  let underWay = 0;
  const begin = (line, { dueAt, isKept }) => {
    const { parts, isBroken } = next(isKept);
    line.onOutcome = (outcome) => {
      tally.add(outcome, dueAt, isBroken);
      underWay -= 1;
      line.onOutcome = ({ fault }) => tally.add({ fault });
      if (isKept && outcome.fault === undefined) whenFree(line, () => pool.free.push(line));
    };
    tally.sent += 1;
    underWay += 1;
    line.send(parts);
  };
  let dueAt = performance.now();
  const endsAt = dueAt + ms;
  while (performance.now() < endsAt) {
    for (; dueAt < performance.now(); dueAt += (-Math.log(1 - Math.random()) * 1000) / rate)
      waiting.push({ dueAt, isKept: Math.random() < 0.5 });
    sendAll(waiting, pool, begin);
    await sleep(TICK_MS);
  }
  const patientUntil = performance.now() + patienceMs;
  while ((underWay > 0 || waiting.length > 0) && performance.now() < patientUntil) {
    sendAll(waiting, pool, begin);
    await sleep(TICK_MS);
  }
  const unanswered = underWay + waiting.length;
  const report = tally.report();
  if (unanswered > 0) report.faults["no answer"] = unanswered;
  return { ...report, inTime: tally.inTime };
}

function sendAll(waiting, pool, begin) {
  const kept = [];
  for (const request of waiting.splice(0)) {
    const line = request.isKept ? keptLine(pool) : singleLine(pool);
    if (line === undefined) kept.push(request);
    else begin(line, request);
  }
  waiting.push(...kept);
}

/** The connection that has been idle longest, so that all of them are used. */
function keptLine(pool) {
  for (let line = pool.free.shift(); line !== undefined; line = pool.free.shift())
    if (line.isFree) return line;
  if (pool.kept >= pool.most) return undefined;
  pool.kept += 1;
  const line = new Line(pool.port);
  line.onEnd = () => {
    pool.kept -= 1;
  };
  return line;
}

function singleLine(pool) {
  if (pool.single >= pool.most) return undefined;
  pool.single += 1;
  const line = new Line(pool.port);
  line.onEnd = () => {
    pool.single -= 1;
  };
  return line;
}

/** Sends posts without their last byte. */
async function unfinished({ port, count, bytes, ms, key }) {
  const tally = new Tally();
  const credentials = key === undefined ? [] : [`authorization: Bearer ${key}`];
  const head = [
    "POST /v1/systemone HTTP/1.1",
    "host: localhost",
    "content-type: application/json",
    `content-length: ${bytes}`,
    ...credentials,
    "",
    "",
  ].join("\r\n");
  const body = Buffer.alloc(bytes - 1, " ");
  const lines = [];
  for (let at = 0; at < count; at += 1) {
    const line = new Line(port);
    let isAnswered = false;
    line.onOutcome = ({ status = "closed" }) => {
      if (!isAnswered) tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
      isAnswered = true;
    };
    line.send([head, body]);
    tally.sent += 1;
    lines.push(line);
    if (at % 20 === 19) await sleep(TICK_MS);
  }
  await sleep(ms);
  process.send({ isHeld: true });
  await new Promise((resolve) => process.once("message", resolve));
  for (const line of lines) line.close();
  return tally.report();
}
