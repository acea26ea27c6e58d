// Measures requests per second and memory of `decision serve` by size of request: the table of docs/sizing.md.
// `npm run build && node tools/sizing.mjs [--processors 1] [--seconds 4] [--callers 8] [--states 20,160,1000]
// [-- FLAGS OF decision serve]`. Needs Linux.
//
// The service runs on the first processors of the machine. Requests are counted per second of processor time of both
// processes. On an idle machine with the callers on other processors, that is the throughput per processor, but it
// depends much less on other load. A measurement takes --seconds of processor time per processor.
import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { Random } from "../dist/bench/random.js";
import { sized } from "../dist/bench/workloads/fixed-sizes.js";
import { numberOf } from "./flags.mjs";
import { startService } from "./service.mjs";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    processors: { type: "string", default: "1" },
    seconds: { type: "string", default: "4" },
    callers: { type: "string", default: "8" },
    states: { type: "string", default: "20,160,1000" },
  },
});
const [processors, seconds, callers] = ["processors", "seconds", "callers"].map((name) =>
  numberOf(flags, name),
);
const STATE_TOKENS = flags.states.split(",").map(Number);
const QUESTIONS = [1, 8];
/** Tokens of the other parts: each question has four candidates of ten tokens. */
const REST = { question: 12, candidate: 10, candidates: 4 };
/** A long deadline, so that nothing is refused on a busy machine. */
const PATIENT_MS = "3600000";
/** Number of recurring states. Few, because the default cache holds three states of 1,000 tokens. */
const SEEN_STATES = 2;
/** Processor time of the warm-up: code is compiled and memory allocated. */
const WARM_SECONDS = 1;

console.log(`| state | questions | new states | seen states | memory |\n| --- | --- | --- | --- | --- |`);
for (const state of STATE_TOKENS) {
  for (const questions of QUESTIONS) {
    const service = await startService(["--deadline-ms", PATIENT_MS, ...positionals], {
      wrapper: ["taskset", "--cpu-list", processorList()],
    });
    const pool = new Pool(`http://127.0.0.1:${service.port}`, { connections: callers });
    const sizes = { state, questions, ...REST };
    const seen = Array.from({ length: SEEN_STATES }, (_, index) => requestOf(sizes, "seen", index).state);
    await load(service, pool, (index) => requestOf(sizes, "warm", index), WARM_SECONDS);
    const fresh = await load(service, pool, (index) => requestOf(sizes, "new", index), seconds);
    const known = (index) => ({ ...requestOf(sizes, "again", index), state: seen[index % SEEN_STATES] });
    const again = await load(service, pool, known, seconds);
    const memory = Math.round(Math.max(fresh.memory, again.memory));
    console.log(
      `| ${state} tokens | ${questions} | ${short(fresh.rate)} | ${short(again.rate)} | ${memory} MiB |`,
    );
    await pool.close();
    await service.end();
  }
}

function processorList() {
  return Array.from({ length: processors }, (_, index) => index).join(",");
}

/** The body of a request. */
function requestOf(sizes, name, index) {
  return JSON.parse(sized(new Random(1, name, index), sizes).body);
}

function short(value) {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

/**
 * Requests per second of processor time, measured until both processes have used the given seconds per processor.
 * Closed loop.
 */
async function load(service, pool, requestAt, cpuSeconds) {
  const spent = () => {
    const { service: own, inference } = service.cpuSeconds();
    return own + inference;
  };
  const before = spent();
  let used = 0;
  let memory = 0;
  const look = setInterval(() => {
    used = spent() - before;
    const { service: own, inference } = service.memory();
    memory = Math.max(memory, own + inference);
  }, 100);
  let next = 0;
  let answered = 0;
  const caller = async () => {
    while (used < cpuSeconds * processors) {
      const body = requestAt(next++);
      const response = await pool.request({
        path: "questions" in body ? "/v1/systemone" : "/v1/rank",
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.body.text();
      assert.equal(response.statusCode, 200, text);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  clearInterval(look);
  return { rate: answered / (spent() - before), memory };
}
