// Simulates the latency caused by queueing: the real scheduler with a modelled backend, in virtual time.
// `npm run build && node scripts/measure/latency-model.mjs [--requests 20000] [--shares 0.5,0.7,0.8,0.85,0.9]
// [--forward-ms 4] [--message-ms 0.5] [--spread 0.1] [--max-batch-size 32] [--seed 1]`
//
// Short requests (45 tokens, two per forward) arrive at random times. The time of a forward is proportional to its
// tokens plus 25, with a random factor (`--spread`, standard deviation). Two forwards run at a time, and a processor that
// has none left of a batch begins with the next batch. A request that comes alone uses both processors, unless requests
// came together shortly before. A message between the processes takes `--message-ms`. The output also has an
// ideal queue (M/D/1): one server, first in, first out, in which each request takes its time in a full batch, without
// messages, plus the time of a request alone. No machine is measured.
import { setImmediate as settled } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Random } from "../../dist/bench/random.js";
import { Company } from "../../dist/src/backends/onnx/forwards/company.js";
import { Scheduler } from "../../dist/src/inference/queue/scheduler.js";

const { values: flags } = parseArgs({
  options: {
    requests: { type: "string", default: "20000" },
    shares: { type: "string", default: "0.5,0.7,0.8,0.85,0.9" },
    "forward-ms": { type: "string", default: "4" },
    "message-ms": { type: "string", default: "0.5" },
    spread: { type: "string", default: "0.1" },
    "max-batch-size": { type: "string", default: "32" },
    seed: { type: "string", default: "1" },
  },
});
const [count, forwardMs, messageMs, spreadOfTimes, seed] = [
  "requests",
  "forward-ms",
  "message-ms",
  "spread",
  "seed",
].map((name) => Number(flags[name]));
const SIZES = { state: 18, question: 5, candidate: 11, candidates: 2 };
const TOKENS = SIZES.state + SIZES.question + SIZES.candidates * SIZES.candidate;
const FORWARD_TOKENS = 25; // fixed cost of a forward, in tokens
const MOST_FORWARD_TOKENS = 128;
const PROCESSORS = 2;
const SHARED = 0.87; // time of a small forward on both processors, as a share of its time on one
const CALLERS = 64;
const SETTINGS = {
  queueCapacity: 100_000,
  maxBatchRequests: Number(flags["max-batch-size"]),
  maxBatchTokens: 2048,
  batchWaitMs: 0,
  cacheSize: 0,
  strict: false,
  deadlineMs: 3_600_000,
};

/** A clock that advances from event to event. */
class VirtualClock {
  #now = 0;
  #events = [];

  now() {
    return this.#now;
  }

  after(ms, act) {
    const event = { at: this.#now + ms, act };
    let at = this.#events.length;
    while (at > 0 && this.#events[at - 1].at > event.at) at--;
    this.#events.splice(at, 0, event);
    return () => {
      event.act = () => {};
    };
  }

  /** Advances until `isOver`. */
  async run(isOver) {
    for (let event = this.#events.shift(); event !== undefined && !isOver(); event = this.#events.shift()) {
      this.#now = event.at;
      event.act();
      await settled();
    }
  }
}

/** A backend that computes forwards in the order of their batches. */
class ModelledBackend {
  isReady = true;
  isExpected = true;
  keptStates = { fewestTokens: Number.POSITIVE_INFINITY };
  requests = 0;
  batches = 0;
  #clock;
  #random;
  #underWay = 0;
  #company = new Company();
  /** Times at which the processors become free. */
  #free = new Array(PROCESSORS).fill(0);

  constructor(clock, random) {
    this.#clock = clock;
    this.#random = random;
  }

  onReady() {}

  score(forest) {
    this.batches += 1;
    this.requests += forest.length;
    const isAlone = this.#company.note(forest.length > 1 || this.#underWay > 0);
    this.#underWay += 1;
    const endAt = this.#compute(forest.length, this.#clock.now() + messageMs, isAlone);
    const pairs = forest.flatMap(({ questions }) => questions.flatMap(({ candidates }) => candidates));
    const scores = new Float32Array(pairs.length);
    return new Promise((resolve) => {
      this.#clock.after(endAt + messageMs - this.#clock.now(), () => {
        this.#underWay -= 1;
        resolve({ scores, forwards: 1 });
      });
    });
  }

  /** @returns when the last forward ends */
  #compute(requests, cameAt, isAlone) {
    if (isAlone) {
      this.#free.fill(cameAt + this.#noise() * SHARED * forwardMs);
      return this.#free[0];
    }
    return spread(this.#free, cameAt, requests, () => this.#noise());
  }

  #noise() {
    const next = () => this.#random.next();
    const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    return Math.max(0.5, 1 + spreadOfTimes * normal);
  }
}

/** Gives each forward of a batch to the processor that is free first. @returns when the last one ends */
function spread(free, cameAt, requests, noise = () => 1) {
  const perForward = Math.floor(MOST_FORWARD_TOKENS / TOKENS);
  const perProcessor = Math.ceil(requests / PROCESSORS);
  let endAt = 0;
  for (let left = requests; left > 0; ) {
    const size = Math.min(left, perForward, perProcessor);
    const tokens = size * TOKENS + FORWARD_TOKENS;
    free.sort((a, b) => a - b);
    free[0] = Math.max(free[0], cameAt) + (noise() * forwardMs * tokens) / (TOKENS + FORWARD_TOKENS);
    endAt = Math.max(endAt, free[0]);
    left -= size;
  }
  return endAt;
}

/** Duration of a batch on idle processors. */
function batchMs(requests) {
  return requests === 1 ? SHARED * forwardMs : spread(new Array(PROCESSORS).fill(0), 0, requests);
}

function world(name) {
  const clock = new VirtualClock();
  const backend = new ModelledBackend(clock, new Random(seed, "noise", name));
  const scheduler = new Scheduler(backend, clock, SETTINGS);
  scheduler.open();
  let asked = 0;
  const ask = () => {
    asked += 1;
    const node = (at, length) => new Int32Array(length).fill(asked * 8 + at);
    const [state, question] = [node(0, SIZES.state), node(1, SIZES.question)];
    const candidate = (at) => ({ state, question, candidate: node(2 + at, SIZES.candidate) });
    const place = scheduler.admit({
      signal: new AbortController().signal,
      deadlineAt: clock.now() + SETTINGS.deadlineMs,
    });
    place.submit([Array.from({ length: SIZES.candidates }, (_, at) => candidate(at))]);
    return place.answer;
  };
  return { clock, backend, ask };
}

/** Answers per second with callers that always have a request waiting. */
async function saturatedRate() {
  const { clock, ask } = world("closed");
  let answered = 0;
  const caller = () => {
    void ask().then(() => {
      answered += 1;
      clock.after(0, caller);
    });
  };
  for (let at = 0; at < CALLERS; at++) clock.after(0, caller);
  await clock.run(() => answered >= count);
  return (1000 * answered) / clock.now();
}

/** Latencies of requests that arrive at random times, in milliseconds. */
async function latenciesAt(rate) {
  const { clock, backend, ask } = world("open");
  const random = new Random(seed, "arrivals");
  const latencies = [];
  let sent = 0;
  const next = () => {
    sent += 1;
    const sentAt = clock.now();
    void ask().then(() => latencies.push(clock.now() - sentAt));
    if (sent < count) clock.after((-Math.log(1 - random.next()) * 1000) / rate, next);
  };
  clock.after(0, next);
  await clock.run(() => latencies.length === count);
  return { latencies, requestsPerBatch: backend.requests / backend.batches };
}

/** Latencies of a single server, first come first served. */
function leastLatencies(rate, serviceMs, lastMs) {
  const random = new Random(seed, "arrivals");
  let [at, freeAt] = [0, 0];
  return Array.from({ length: count }, () => {
    const begin = Math.max(at, freeAt);
    const latency = begin - at + lastMs;
    freeAt = begin + serviceMs;
    at += (-Math.log(1 - random.next()) * 1000) / rate;
    return latency;
  });
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

const rate = await saturatedRate();
const unloaded = batchMs(1) + 2 * messageMs;
console.log(
  `saturated ${rate.toFixed(0)}/s; alone ${unloaded.toFixed(1)} ms; batches of 1, 2, 4, 8, 16, 32: ${[1, 2, 4, 8, 16, 32].map((n) => batchMs(n).toFixed(0)).join(", ")} ms`,
);
console.log("share  p50 ms  p99 ms  p99/alone  requests/batch  least p99/alone");
for (const share of flags.shares.split(",").map(Number)) {
  const { latencies, requestsPerBatch } = await latenciesAt(share * rate);
  const least = leastLatencies(share * rate, 1000 / rate, unloaded);
  const [p50, p99] = [0.5, 0.99].map((each) => quantile(latencies, each));
  const cells = [
    share.toFixed(2),
    p50.toFixed(1),
    p99.toFixed(1),
    (p99 / unloaded).toFixed(1),
    requestsPerBatch.toFixed(1),
    (quantile(least, 0.99) / unloaded).toFixed(1),
  ];
  console.log(cells.map((cell, at) => cell.padStart([5, 7, 7, 10, 15, 16][at])).join(" "));
}
