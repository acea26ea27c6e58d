// Measures goodput of heavy requests under a flood of callers, relative to the capacity without one. Starts its own
// service. `npm run build && node tools/flood.mjs [--callers 400] [--seconds 15] [--rounds 3] [--words 600]
// [--questions 32] [--candidates 8] [-- flags of decision serve]`
//
// Capacity: two callers, each sending one request after another. Flood: refused callers retry after the seconds in
// Retry-After, or after one. The exit code is 1 if goodput is below 90 %.
import { setMaxListeners } from "node:events";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Random } from "../dist/bench/random.js";
import { systemoneRequest } from "../dist/bench/workloads/bodies.js";
import { distinctTexts, textOf } from "../dist/bench/workloads/texts.js";
import { numberOf } from "./flags.mjs";
import { startService } from "./service.mjs";

const LEAST_SHARE = 0.9;
const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    callers: { type: "string", default: "400" },
    seconds: { type: "string", default: "15" },
    words: { type: "string", default: "600" },
    questions: { type: "string", default: "32" },
    candidates: { type: "string", default: "8" },
    rounds: { type: "string", default: "3" },
  },
});
const [callers, seconds, words, questions, candidates, rounds] = [
  "callers",
  "seconds",
  "words",
  "questions",
  "candidates",
  "rounds",
].map((name) => numberOf(flags, name));

const service = await startService(positionals);
const { port } = service;
let asked = 0;

await load(1, 3); // warm-up, in which the service also measures its own speed
const [capacity, flood] = [{ 200: 0 }, { 200: 0 }];
for (let round = 0; round < rounds; round++) {
  add(capacity, await load(2, seconds)); // alternating, since the speed of a machine varies
  add(flood, await load(callers, seconds));
}
const health = await service.health();
await service.end();

const share = rateOf(flood) / rateOf(capacity);
console.log(`without a flood  ${describeCounts(capacity, rounds * seconds)}`);
console.log(`${callers} callers      ${describeCounts(flood, rounds * seconds)}`);
console.log(`estimated wait at the end: ${health.estimated_wait_seconds?.toFixed(1)} s`);
console.log(
  `goodput: ${(100 * share).toFixed(0)} % of the capacity, at least ${100 * LEAST_SHARE} % expected`,
);
process.exitCode = share >= LEAST_SHARE ? 0 : 1;

/**
 * Sends requests from callers that each wait for an answer before the next one. A refused caller sends the same body
 * again after the seconds in Retry-After, or after one. Only answers within the time count.
 *
 * @returns numbers of answers by status; "lost" or a code of Node.js for requests without an answer
 */
async function load(callers, forSeconds) {
  const agent = new Agent({ keepAlive: true });
  const statuses = { 200: 0 };
  const over = AbortSignal.timeout(forSeconds * 1000);
  setMaxListeners(Infinity, over);
  const caller = async () => {
    let text = body();
    while (!over.aborted) {
      const reply = await post(text, { agent, signal: over }).catch((error) => error);
      if (over.aborted) return;
      const status = reply.status ?? reply.code ?? "lost";
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 200) {
        text = body();
        continue;
      }
      await sleep(Number(reply.retryAfter ?? 1) * 1000, undefined, { signal: over }).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  agent.destroy();
  return statuses;
}

function post(text, { agent, signal }) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const sent = request(
      { host: "127.0.0.1", port, method: "POST", path: "/v1/systemone", agent, headers, signal },
      (response) => {
        const { statusCode: status, headers } = response;
        response.resume().on("error", reject);
        response.on("end", () => resolve({ status, retryAfter: headers["retry-after"] }));
      },
    );
    sent.on("error", reject).end(text);
  });
}

/** @param counts numbers of answers by status */
function describeCounts(counts, seconds) {
  const each = Object.entries(counts).map(([status, count]) => `${status}: ${count}`);
  return `${(counts[200] / seconds).toFixed(2)} answers/s (${each.join(", ")})`;
}

function add(counts, more) {
  for (const [status, count] of Object.entries(more)) counts[status] = (counts[status] ?? 0) + count;
}

/** Answers per second. */
function rateOf(counts) {
  return counts[200] / (rounds * seconds);
}

/** A new request. */
function body() {
  const random = new Random(1, "flood", asked++);
  const names = Array.from({ length: questions }, (_, at) => `q${at}`);
  const question = () => ({
    type: "score",
    instructions: textOf(random, 8),
    criteria: distinctTexts(random, candidates, 8),
  });
  return systemoneRequest(textOf(random, words), Object.fromEntries(names.map((name) => [name, question()])))
    .body;
}
