// Measures requests per second and memory of `decision serve` by size of request: the table of docs/sizing.md.
// `npm run build && node tools/sizing.mjs [--processors 1] [--seconds 4] [--callers 8] [--states 20,160,1000]
// [-- FLAGS OF decision serve]`. Needs Linux.
//
// The service runs on the first processors of the machine. Requests are counted per second of processor time of both
// processes. On an idle machine with the callers on other processors, that is the throughput per processor, but it
// depends much less on other load. A measurement takes --seconds of processor time per processor.
import assert from "node:assert/strict";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../dist/bench/random.js";
import { sized } from "../dist/bench/workloads/generated.js";
import { call, runCallers } from "./calls.mjs";
import { readFlags } from "./measurement.mjs";
import { startService } from "./service.mjs";

const { processors, seconds, callers, states, rest } = readFlags({
  processors: 1,
  seconds: 4,
  callers: 8,
  states: "20,160,1000",
});
const QUESTIONS = [1, 8];
/** Tokens of the other parts: each question has four candidates of ten tokens. */
const REST = { question: 12, candidate: 10, candidates: 4 };
/** A long deadline, so that nothing is refused on a busy machine. */
const PATIENT_MS = "3600000";
/** Number of recurring states. Few, because the default cache holds three states of 1,000 tokens. */
const SEEN_STATES = 2;
/** Processor time of the warm-up: code is compiled and memory allocated. */
const WARM_SECONDS = 1;

const processorList = Array.from({ length: processors }, (_, index) => index).join(",");
const agent = new Agent({ keepAlive: true });

console.log(`| state | questions | new states | seen states | memory |\n| --- | --- | --- | --- | --- |`);
for (const state of states.split(",").map(Number)) {
  for (const questions of QUESTIONS) {
    const service = await startService(["--deadline-ms", PATIENT_MS, ...rest], {
      wrapper: ["taskset", "--cpu-list", processorList],
    });
    const requestOf = (name, index) =>
      JSON.parse(sized(new Random(1, name, index), { state, questions, ...REST }).body);
    const seen = Array.from({ length: SEEN_STATES }, (_, index) => requestOf("seen", index).state);
    await load(service, (index) => requestOf("warm", index), WARM_SECONDS);
    const fresh = await load(service, (index) => requestOf("new", index), seconds);
    const known = (index) => ({ ...requestOf("again", index), state: seen[index % SEEN_STATES] });
    const again = await load(service, known, seconds);
    const memory = Math.round(Math.max(fresh.memory, again.memory));
    console.log(
      `| ${state} tokens | ${questions} | ${short(fresh.rate)} | ${short(again.rate)} | ${memory} MiB |`,
    );
    await service.end();
  }
}

function short(value) {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

/**
 * Requests per second of processor time, measured until both processes have used the given seconds per processor.
 * Closed loop.
 */
async function load(service, requestAt, seconds) {
  const before = service.cpuSeconds();
  let [next, answered, memory] = [0, 0, 0];
  let isOver = false;
  const send = async () => {
    const body = requestAt(next++);
    const target = "questions" in body ? "/v1/systemone" : "/v1/rank";
    const { status, text } = await call(service.port, { target, body: JSON.stringify(body), agent });
    assert.equal(status, 200, text);
    answered += 1;
  };
  const ended = runCallers(callers, () => isOver, send);
  while (service.cpuSeconds() - before < seconds * processors) {
    await sleep(100);
    const { service: own, inference } = service.memory();
    memory = Math.max(memory, own + inference);
  }
  isOver = true;
  await ended;
  return { rate: answered / (service.cpuSeconds() - before), memory };
}
