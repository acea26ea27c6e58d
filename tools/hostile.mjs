// Sends hostile requests to services that it starts: our own cases over raw sockets, slow ones, wrong keys, and cases
// that schemathesis generates from the service's document. Each answer is checked against the contract. The exit code is
// 1 if anything is wrong.
//
//     npm run build && node --import tsx tools/hostile.mjs [--only raw|slow|keys|schemathesis] [--seed 1]
//       [--cases 50000] [--slow 200] [--keys 10000] [--generated 50000] [--seconds 900] [--plant answers|key|leak]
//
// `--seconds` limits each part. `--plant` plants a fault, with which the exit code must be 1.
import { slope } from "../dist/bench/measure/statistics.js";
import { Random } from "../dist/bench/random.js";
import { addTo, call, describe, runCallers } from "./calls.mjs";
import { FAMILIES, head, JSON_LINE, SLOW_FAMILIES, SMALL } from "./hostile/cases.mjs";
import { exchange, faultsOf } from "./hostile/exchange.mjs";
import { schemathesis } from "./hostile/schemathesis.mjs";
import { wrongKey } from "./hostile/wrong-keys.mjs";
import { hold, readFlags, runStages, show } from "./measurement.mjs";
import { startService } from "./service.mjs";

/** Time limit of a case. The slow ones wait for a timeout of the service. */
const BOUND_MS = 70_000;
const CALLERS = 16;
const SLOW_CALLERS = 100;
/** Cases between two measurements of memory and a normal request. */
const ROUND = 1_000;
/** Share of the run in which caches and heaps fill, and the fewest samples after it: with fewer, single ones decide. */
const [WARM_UP, LEAST_SAMPLES] = [0.3, 7];
/**
 * Maximum growth in MiB per 10,000 cases. Chosen: above the normal variation of a heap; a leak of 2 KiB per case would
 * be 20.
 */
const MOST_GROWTH = 8;
const KEY = "sk-Right-Key-0123456789-of-the-operator";
const SHOWN = 30;
/** A small state cache, which is full after the warm-up, so that later growth is not the cache. */
const FLAGS = ["--state-cache-mb", "16"];
/** A short deadline for bodies that never end. */
const SLOW_FLAGS = ["--deadline-ms", "5000"];

const flags = readFlags({
  only: undefined,
  seed: 1,
  cases: 50_000,
  slow: 200,
  keys: 10_000,
  generated: 50_000,
  seconds: 900,
  plant: undefined,
});
const random = new Random(flags.seed, "hostile");
const faults = {};

await runStages(
  {
    raw: () => part(flags.cases, raw),
    slow: () => part(flags.slow, slow, { flags: SLOW_FLAGS }),
    keys: () => part(flags.keys, keys, { env: { DECISION_API_KEY: KEY } }),
    schemathesis: () => part(flags.generated, generated),
  },
  flags.only,
);

/** Runs a part against a service of its own. Shows its faults by family. @param count of cases; 0 leaves it out */
async function part(count, run, { flags: own = FLAGS, env } = {}) {
  if (count === 0) return;
  const plants = flags.plant === undefined ? [] : [`hostile/plant-${flags.plant}.cjs`];
  const service = await startService(own, { env, plants });
  await run(service, count).catch((error) => fault("part", error.message));
  await service.end();
  if (service.log.length > 0) fault("the service", "it wrote to stderr");
  hold("faults", Object.keys(faults).length, 0, describe(faults));
}

function fault(place, text) {
  addTo(faults, place);
  if (faults[place] <= SHOWN) console.error(`fault: ${place}: ${text}`);
}

/**
 * Plays rounds of cases. After each round, the answer to a normal request must be the same as before, and memory is
 * sampled.
 *
 * @param playRound plays at most so many cases, resolves with their number
 */
async function rounds(service, count, playRound) {
  const normal = async () =>
    JSON.stringify(JSON.parse((await call(service.port, { body: SMALL })).text).answers);
  const wanted = await normal();
  const endsAt = performance.now() + flags.seconds * 1000;
  const samples = [];
  let done = 0;
  while (done < count && performance.now() < endsAt) {
    done += await playRound(Math.min(ROUND, count - done), (endsAt - performance.now()) / 1000);
    samples.push({ x: done / 10_000, ...service.memory() });
    if ((await normal()) !== wanted) fault("normal request", "its answer has changed");
  }
  show("cases", done);
  const steady = samples.slice(samples.length * WARM_UP);
  if (steady.length < LEAST_SAMPLES) return;
  for (const name of ["service", "inference"]) {
    const growth = slope(steady.map((sample) => ({ x: sample.x, y: sample[name] })));
    hold(`growth of the ${name} process, MiB per 10,000 cases`, growth, MOST_GROWTH, growth.toFixed(1));
  }
}

/** Plays cases of random families, several at a time, and counts the statuses of their answers. */
async function play({ port }, { families, count, callers, statuses }) {
  let left = count;
  const isOver = () => left === 0;
  await runCallers(callers, isOver, async () => {
    left -= 1;
    const family = random.pick(Object.keys(families));
    const given = families[family](random);
    const seen = await exchange(port, given, BOUND_MS);
    const sent = JSON.stringify(given.steps.map(String).join("").slice(0, 400));
    for (const text of faultsOf(given, seen)) fault(family, `${text}; sent ${sent}`);
    for (const { status } of seen.answers) addTo(statuses, status);
  });
  return count;
}

async function raw(service, count) {
  const statuses = {};
  await rounds(service, count, (count) =>
    play(service, { families: FAMILIES, count, callers: CALLERS, statuses }),
  );
  show("families", Object.keys(FAMILIES).length);
  show("answers", describe(statuses));
}

async function slow(service, count) {
  const statuses = {};
  await play(service, { families: SLOW_FAMILIES, count, callers: SLOW_CALLERS, statuses });
  show("answers", describe(statuses));
}

/** Sends each wrong key, and on the same connection the right one, which alone is accepted: the body has a 422. */
async function keys(service, count) {
  const ask = (lines) => `${head("POST", "/v1/rank", [JSON_LINE, ...lines, "Content-Length: 2"])}{}`;
  const requests = [{ method: "POST" }, { method: "POST" }];
  const seen = {};
  const tryOne = async () => {
    const wrong = wrongKey(KEY, random);
    const steps = [ask(wrong) + ask([`Authorization: Bearer ${KEY}`])];
    const { answers } = await exchange(service.port, { steps, requests }, BOUND_MS);
    const statuses = answers.map(({ status }) => status).join(", ");
    addTo(seen, statuses);
    // invalid HTTP ends the connection
    if (statuses !== "401, 422" && statuses !== "400")
      fault("keys", `${statuses} for ${JSON.stringify(wrong)}`);
  };
  const endsAt = performance.now() + flags.seconds * 1000;
  let left = count;
  await runCallers(CALLERS, () => left-- <= 0 || performance.now() >= endsAt, tryOne);
  show("answers to the wrong and the right key", describe(seen));
}

/** Several runs per operation, with a measurement of memory and a normal request in between. */
async function generated(service, count) {
  let round = 0;
  await rounds(service, count, async (count, seconds) => {
    const limits = {
      cases: Math.ceil(count / 2.5),
      seconds: Math.min(Math.max(5, Math.round(seconds)), 120),
    };
    const found = await schemathesis(service.port, { seed: flags.seed * 1000 + round++, ...limits });
    for (const failure of found.failures) fault("schemathesis", `${failure}\n${found.output.slice(0, 5000)}`);
    if (found.cases === 0) throw new Error(`schemathesis generated no case: ${found.output.slice(-2000)}`);
    return found.cases;
  });
}
