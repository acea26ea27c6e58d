// Sends hostile requests to a service that it starts: cases that schemathesis generates from the service's document,
// our own cases over raw sockets, and wrong keys. Each answer is checked against the contract. The exit code is 1 if
// anything is wrong.
//
//     npm run build && node --import tsx tools/hostile.ts [--seed 1] [--cases 50000] [--generated 50000]
// [--keys 10000]
//         [--slow 200] [--seconds 900] [--plant answers|key|leak]
//
// `--seconds` limits each part. `--plant` plants a fault, with which the exit code must be 1.
import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { seededRandom } from "../test/support/seeded-random.ts";
import { bodyCases } from "./hostile/body-cases.ts";
import { type Family, type HostileCase, head, JSON_LINES, pick, SMALL } from "./hostile/cases.ts";
import { exchange } from "./hostile/exchange.ts";
import { framingCases, slowCases } from "./hostile/framing-cases.ts";
import { faultsOf } from "./hostile/judge.ts";
import { MemoryWatch } from "./hostile/memory.ts";
import { requestCases } from "./hostile/request-cases.ts";
import { schemathesis } from "./hostile/schemathesis.ts";
import { type Served, serve } from "./hostile/service.ts";
import { wrongKey } from "./hostile/wrong-keys.ts";

/** Time limit of a case. The slow ones wait for a timeout of the service. */
const BOUND_MS = 70_000;
const SLOW_BOUND_MS = 40_000;
const CALLERS = 16;
const SLOW_CALLERS = 100;
/** Cases between two measurements of memory and a normal request. */
const ROUND = 1_000;
/**
 * Maximum growth in MiB per 10,000 cases. Chosen: above the normal variation of a heap; a leak of 2 KiB per case would
 * be 20.
 */
const MOST_GROWTH = 8;
const KEY = "sk-Right-Key-0123456789-of-the-operator";
/** Every family by name. A run chooses among them at random. */
const FAMILIES: Readonly<Record<string, Family>> = { ...bodyCases, ...framingCases, ...requestCases };
const KEYS_TOGETHER = 40;
const SHOWN = 30;
/** A small state cache, which is full after the warm-up, so that later growth is not the cache. */
const FLAGS = ["--state-cache-mb", "16"];
/** A short deadline for bodies that never end. */
const SLOW_FLAGS = ["--deadline-ms", "5000"];

const { values: flags } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    cases: { type: "string", default: "50000" },
    generated: { type: "string", default: "50000" },
    keys: { type: "string", default: "10000" },
    slow: { type: "string", default: "200" },
    seconds: { type: "string", default: "900" },
    plant: { type: "string" },
  },
});
const seed = numberOf("seed");
const cases = numberOf("cases");
const generated = numberOf("generated");
const keys = numberOf("keys");
const slow = numberOf("slow");
const seconds = numberOf("seconds");
const plant = flags.plant === undefined ? undefined : `plant-${flags.plant}.cjs`;

function numberOf(name: "seed" | "cases" | "generated" | "keys" | "slow" | "seconds"): number {
  const value = Number(flags[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${name}: expected a whole number, got ${JSON.stringify(flags[name])}.`);
  process.exit(2);
}

const faults: string[] = [];
function fault(text: string): void {
  faults.push(text);
  if (faults.length <= SHOWN) console.error(`fault: ${text}`);
}

/** Runs one part against its own service. */
async function part(
  name: string,
  env: Readonly<Record<string, string>>,
  run: (served: Served) => Promise<string>,
): Promise<void> {
  const served = await serve(name === "slow" ? SLOW_FLAGS : FLAGS, env, plant);
  const startedAt = performance.now();
  try {
    const said = await run(served);
    console.log(`${name}: ${said}; ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    if (served.log() !== "") fault(`${name}: the service wrote to stderr: ${served.log().slice(0, 1000)}`);
  } catch (error) {
    fault(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await served.stop();
  }
}

/** The answer to a normal request, without the members that vary. */
async function normal(port: number): Promise<unknown> {
  const bytes = `${head("POST", "/v1/systemone", [...JSON_LINES, `Content-Length: ${SMALL.length}`])}${SMALL}`;
  const { answers } = await exchange(port, [bytes], ["POST"], BOUND_MS);
  if (answers[0]?.status !== 200)
    throw new Error(`a normal request is answered with ${answers[0]?.status ?? "nothing"}`);
  return JSON.parse(answers[0].body).answers;
}

function checkGrowth(name: string, memory: MemoryWatch): void {
  for (const [process, growth] of Object.entries(memory.growth() ?? {}))
    if (growth > MOST_GROWTH)
      fault(
        `${name}: the ${process} process grows by ${growth.toFixed(1)} MiB in 10,000 cases, at most ${MOST_GROWTH} expected`,
      );
}

async function rawCases({ port, pid }: Served): Promise<string> {
  const random = seededRandom(seed);
  const names = Object.keys(FAMILIES);
  const make = () => (FAMILIES[pick(random, names)] as Family)(random);
  const wanted = await normal(port);
  const memory = new MemoryWatch(pid);
  const endsAt = performance.now() + seconds * 1000;
  const statuses = new Map<string, number>();
  let done = 0;
  while (done < cases && performance.now() < endsAt) {
    const count = Math.min(ROUND, cases - done);
    await together(count, CALLERS, async () => tell(await play(port, make(), BOUND_MS), statuses));
    done += count;
    memory.sample(done);
    assert.deepEqual(await normal(port), wanted, "the answer to a normal request has changed");
  }
  checkGrowth("raw", memory);
  const counts = [...statuses].sort().map(([status, times]) => `${times} x ${status}`);
  return `${done} cases of ${names.length} families, answers ${counts.join(", ")}; ${memory.text()}`;
}

async function slowOnes({ port }: Served): Promise<string> {
  const random = seededRandom(seed + 1);
  const families = Object.values(slowCases);
  const statuses = new Map<string, number>();
  await together(slow, SLOW_CALLERS, async () =>
    tell(await play(port, pick(random, families)(random), SLOW_BOUND_MS), statuses),
  );
  await normal(port);
  return `${slow} cases, answers ${[...statuses].map(([status, times]) => `${times} x ${status}`).join(", ")}`;
}

async function together(count: number, callers: number, run: () => Promise<void>): Promise<void> {
  let left = count;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await run();
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

async function play(port: number, given: HostileCase, boundMs: number) {
  const seen = await exchange(
    port,
    given.steps,
    given.requests.map(({ method = "GET" }) => method),
    boundMs,
  );
  for (const text of faultsOf(given, seen)) {
    const sent = given.steps.map((step) =>
      step instanceof Uint8Array
        ? Buffer.from(step).toString("latin1")
        : typeof step === "string"
          ? step
          : JSON.stringify(step),
    );
    fault(`${given.family}: ${text}; sent ${JSON.stringify(sent.join("").slice(0, 400))}`);
  }
  return seen;
}

function tell(
  { answers }: { readonly answers: readonly { readonly status: number }[] },
  statuses: Map<string, number>,
): void {
  const seen = answers.length === 0 ? ["none"] : answers.map(({ status }) => String(status));
  for (const status of seen) statuses.set(status, (statuses.get(status) ?? 0) + 1);
}

/** Sends many wrong keys on one connection and the right one last. Only that one may be accepted. */
async function wrongKeys({ port }: Served): Promise<string> {
  const random = seededRandom(seed + 2);
  const endsAt = performance.now() + seconds * 1000;
  let tried = 0;
  let right = 0;
  let refused = 0;
  const ask = (lines: readonly string[]) =>
    `${head("POST", "/v1/rank", [...JSON_LINES, ...lines, "Content-Length: 2"])}{}`;
  while (tried < keys && performance.now() < endsAt) {
    const given = Array.from({ length: Math.min(KEYS_TOGETHER, keys - tried) }, () => wrongKey(KEY, random));
    const lines = [...given, [`Authorization: Bearer ${KEY}`]];
    let sent = 0;
    while (sent < lines.length) {
      // invalid HTTP ends the connection: the rest is sent on another one
      const rest = lines.slice(sent);
      const { answers } = await exchange(
        port,
        [rest.map(ask).join("")],
        rest.map(() => "POST"),
        BOUND_MS,
      );
      if (answers.length === 0) throw new Error("no answer");
      for (const [at, { status }] of answers.entries()) {
        const isRight = sent + at === lines.length - 1;
        if (isRight ? status !== 422 : status !== 401 && status !== 400)
          fault(`keys: ${status} for ${JSON.stringify(rest[at])}`);
        if (isRight) right += 1;
        else if (status === 401) refused += 1;
      }
      sent += answers.length;
    }
    tried += given.length;
  }
  return `${tried} wrong keys, ${refused} of them refused with 401 and the others as invalid HTTP; the right one accepted ${right} times`;
}

async function byDocument({ port, pid }: Served): Promise<string> {
  const memory = new MemoryWatch(pid);
  const wanted = await normal(port);
  const endsAt = performance.now() + seconds * 1000;
  let done = 0;
  let toolErrors = 0;
  for (let round = 0; done < generated && performance.now() < endsAt; round += 1) {
    const left = Math.max(5, Math.round((endsAt - performance.now()) / 1000));
    // several runs per operation, with a measurement of memory and a normal request in between
    const share = Math.ceil(Math.min(2 * ROUND, generated - done) / 5);
    const found = await schemathesis(port, seed * 1000 + round, {
      cases: share,
      seconds: Math.min(left, 120),
    });
    for (const each of found.failures) fault(`schemathesis: ${each}\n${found.output.slice(0, 5000)}`);
    toolErrors += found.toolErrors;
    if (found.cases === 0) throw new Error(`schemathesis generated no case: ${found.output.slice(-2000)}`);
    done += found.cases;
    memory.sample(done);
    assert.deepEqual(await normal(port), wanted, "the answer to a normal request has changed");
  }
  checkGrowth("schemathesis", memory);
  return `${done} cases, ${toolErrors} errors of the tool itself; ${memory.text()}`;
}

if (cases > 0) await part("raw", {}, rawCases);
if (slow > 0) await part("slow", {}, slowOnes);
if (keys > 0) await part("keys", { DECISION_API_KEY: KEY }, wrongKeys);
if (generated > 0) await part("schemathesis", {}, byDocument);
const places = new Map<string, number>();
for (const text of faults) {
  const place = text.slice(0, text.indexOf(":"));
  places.set(place, (places.get(place) ?? 0) + 1);
}
for (const [place, count] of places) console.log(`${count} faults: ${place}`);
console.log(`seed ${seed}: ${faults.length === 0 ? "no faults" : `${faults.length} faults`}`);
process.exitCode = faults.length === 0 ? 0 : 1;
