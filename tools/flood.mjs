// Measures goodput of heavy requests under a flood of callers, relative to the capacity without one. Starts its own
// service. `npm run build && node tools/flood.mjs [--callers 400] [--seconds 15] [--rounds 3] [--words 600]
// [--questions 32] [--candidates 8] [--control] [-- flags of decision serve]`
//
// Capacity: two callers, each sending one request after another. Flood: refused callers retry after the seconds in
// Retry-After, or after one. `--control` disables the service's refusals by estimate, so that the measurement must fail. The exit
// code is 1 if goodput is below 90 %.
import { parseArgs } from "node:util";
import { Random } from "../dist/bench/random.js";
import { systemoneRequest } from "../dist/bench/workloads/bodies.js";
import { distinctTexts, textOf } from "../dist/bench/workloads/texts.js";
import { numberOf } from "./flags.mjs";
import { describeCounts, retryingCallers } from "./retrying-callers.mjs";
import { spawnService } from "./service-process.mjs";

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
    control: { type: "boolean", default: false },
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

const admission = new URL("../dist/src/inference/queue/admission.js", import.meta.url);
const fault = `import { AdmissionControl } from ${JSON.stringify(admission.href)}; AdmissionControl.prototype.refusalByLength = AdmissionControl.prototype.refusalByTokens = () => undefined; AdmissionControl.prototype.refusalsNow = () => [];`;
const { child: service, port } = await spawnService(positionals, {
  imports: flags.control ? [`data:text/javascript,${encodeURIComponent(fault)}`] : [],
});
let asked = 0;

await load(1, 3); // warm-up, in which the service also measures its own speed
const [capacity, flood] = [{ 200: 0 }, { 200: 0 }];
for (let round = 0; round < rounds; round++) {
  add(capacity, await load(2, seconds)); // alternating, since the speed of a machine varies
  add(flood, await load(callers, seconds));
}
const health = await (await fetch(`http://127.0.0.1:${port}/health`)).json();
service.kill("SIGTERM");

const share = rateOf(flood) / rateOf(capacity);
console.log(`without a flood  ${describeCounts(capacity, rounds * seconds)}`);
console.log(`${callers} callers      ${describeCounts(flood, rounds * seconds)}`);
console.log(`estimated wait at the end: ${health.estimated_wait_seconds?.toFixed(1)} s`);
console.log(
  `goodput: ${(100 * share).toFixed(0)} % of the capacity, at least ${100 * LEAST_SHARE} % expected`,
);
process.exitCode = share >= LEAST_SHARE ? 0 : 1;
process.exit();

function load(count, forSeconds) {
  return retryingCallers(port, forSeconds, { callers: count, body });
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
