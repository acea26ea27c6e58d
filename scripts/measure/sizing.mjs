// Requests a second and memory of `decision serve` by size of request: the table of docs/sizing.md.
// `npm run build && node scripts/measure/sizing.mjs [--processors 1] [--seconds 4] [--callers 8] [--states 20,160,1000] [-- FLAGS OF decision serve]`. Needs Linux.
//
// The service runs on the first processors of the machine. Requests are counted for each second of processor time that both of
// its processes have used: on a machine that does nothing else, and with callers on other processors, that is a processor's requests
// a second; other work changes it much less than what is answered in a second. A measurement takes --seconds of processor time for each processor.
import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { Random } from "../../dist/bench/random.js";
import { sized } from "../../dist/bench/workloads/fixed-sizes.js";
import { startService } from "./overload/service.mjs";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    processors: { type: "string", default: "1" },
    seconds: { type: "string", default: "4" },
    callers: { type: "string", default: "8" },
    states: { type: "string", default: "20,160,1000" },
  },
});
const [processors, seconds, callers] = [flags.processors, flags.seconds, flags.callers].map(Number);
if (![processors, seconds, callers].every((value) => value > 0)) {
  console.error("--processors, --seconds and --callers take numbers above 0");
  process.exit(2);
}
const root = new URL("../..", import.meta.url).pathname;
const STATE_TOKENS = flags.states.split(",").map(Number);
const QUESTIONS = [1, 8];
/** Of a question: four candidates of ten tokens. */
const REST = { question: 12, candidate: 10, candidates: 4 };
/** On a busy machine nothing is refused because it would take too long. */
const PATIENT_MS = "3600000";
/** Few: the default cache holds three states of 1,000 tokens. */
const SEEN_STATES = 2;
/** Processor time until code is compiled and memory is taken. */
const WARM_SECONDS = 1;

console.log(`| state | questions | new states | seen states | memory |\n| --- | --- | --- | --- | --- |`);
for (const state of STATE_TOKENS) {
  for (const questions of QUESTIONS) {
    const service = await startService(
      root,
      ["--deadline-ms", PATIENT_MS, ...positionals],
      undefined,
      {},
      processorList(),
    );
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

/** A body for the operation that its members tell. */
function requestOf(sizes, name, index) {
  return JSON.parse(sized(new Random(1, name, index), sizes).body);
}

function short(value) {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

/**
 * Requests for a second of processor time, until both processes have used the given seconds on each processor. Each caller sends its
 * next request when it has its answer.
 */
async function load(service, pool, requestAt, cpuSeconds) {
  const before = service.bothCpuSeconds;
  let used = 0;
  let memory = 0;
  const look = setInterval(() => {
    used = service.bothCpuSeconds - before;
    memory = Math.max(memory, service.bothResidentMib);
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
  return { rate: answered / (service.bothCpuSeconds - before), memory };
}
