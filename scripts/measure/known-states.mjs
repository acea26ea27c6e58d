// Measures whether questions about known states are answered beside new states, and new states after them. Starts its
// own services, one build after the other. `npm run build && node scripts/measure/known-states.mjs [--rounds 2]
// [--seconds 10] [--words 600] [--deadline-ms 3000] [--root another/checkout ...]`
//
// Each round has three parts:
// known  6 callers with questions about three states that the service has just seen
// new    100 callers with new states, each with 4 questions of 8 candidates
// both   2 callers with questions about the known states beside 40 with new states
//
// Refused callers retry after the seconds in Retry-After. A 504 is a broken promise: the request was accepted, but not
// answered before its deadline. The exit code is 1 if questions about known states got no answer, or a request anything but
// a 200 or a 503.
import path from "node:path";
import { parseArgs } from "node:util";
import { median } from "../../dist/bench/measure/statistics.js";
import { Random } from "../../dist/bench/random.js";
import { systemoneRequest } from "../../dist/bench/workloads/bodies.js";
import { distinctTexts, textOf } from "../../dist/bench/workloads/texts.js";
import { numberOf } from "./flags.mjs";
import { startService } from "./overload/service.mjs";
import { describeCounts, retryingCallers } from "./retrying-callers.mjs";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "2" },
    seconds: { type: "string", default: "10" },
    words: { type: "string", default: "600" },
    "deadline-ms": { type: "string", default: "3000" },
    root: { type: "string", multiple: true, default: [path.join(import.meta.dirname, "../..")] },
  },
});
const [rounds, seconds, words, deadlineMs] = ["rounds", "seconds", "words", "deadline-ms"].map((name) =>
  numberOf(flags, name),
);
const KNOWN = Array.from({ length: 3 }, (_, at) => textOf(new Random(1, "known state", at), words));
const EXPECTED = ["200", "503"];
let asked = 0;

for (let round = 0; round < rounds; round++)
  for (const root of flags.root) {
    const service = await startService(root, ["--deadline-ms", `${deadlineMs}`]);
    const load = (callers, body, answered) =>
      retryingCallers(service.port, seconds, { callers, body, answered });
    await retryingCallers(service.port, 3, { callers: 2, body: newState }); // the service measures its speed meanwhile
    await Promise.all(KNOWN.map(() => service.post(JSON.parse(knownState()))));
    console.log(root);
    const alone = [];
    tell("known", await load(6, knownState, (ms) => alone.push(ms)), alone);
    tell("new", await load(100, newState));
    const beside = [];
    const [known, fresh] = await Promise.all([
      load(2, knownState, (ms) => beside.push(ms)),
      load(40, newState),
    ]);
    tell("both: known", known, beside);
    tell("both: new", fresh);
    await service.end();
  }

function question(random, candidates) {
  return { type: "score", instructions: textOf(random, 8), criteria: distinctTexts(random, candidates, 8) };
}

function newState() {
  const random = new Random(1, "request", asked++);
  const questions = Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, question(random, 8)]));
  return systemoneRequest(textOf(random, words), questions).body;
}

function knownState() {
  const random = new Random(1, "request", asked++);
  return systemoneRequest(KNOWN[asked % KNOWN.length], { a: question(random, 4) }).body;
}

/** @param latencies milliseconds of the answers */
function tell(part, counts, latencies = []) {
  const latency = latencies.length > 0 ? `, median ${median(latencies).toFixed(0)} ms` : "";
  console.log(`  ${part.padEnd(12)} ${describeCounts(counts, seconds)}${latency}`);
  const isExpected = Object.keys(counts).every((status) => EXPECTED.includes(status));
  if (!isExpected || (part.endsWith("known") && counts[200] === 0)) process.exitCode = 1;
}
