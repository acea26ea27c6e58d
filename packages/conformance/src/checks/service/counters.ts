import type { Reply } from "../../client/exchange.ts";
import { type Json, show } from "../../client/json.ts";
import { type Check, checksOf, type Draft } from "../../trial/check.ts";
import { NOUL, RANK, SMALL, SMALL_RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import { freshState, scoreOf, sizesOf, texts } from "../scored.ts";
import { counterOf } from "./server.ts";

/** Attempts of a comparison. Other callers may disturb one of them, but hardly every one. Chosen. */
const ATTEMPTS = 3;
/** The first watch takes as long as the comparison, and at least this long. Chosen. */
const LEAST_WATCH_MS = 1000;
const LOOK_PAUSE_MS = 50;

const OTHERS = "others use the server: its counters change without requests from here";
/** Counters that every inference increases. */
const ALWAYS_WATCHED = ["completed_requests", "model_batches"];

/** A counter that differs from its expected value. */
interface Deviation {
  /** The counter's name in /health. */
  readonly name: string;
  readonly came: string;
  readonly reply: Reply;
}

/**
 * Runs a comparison that other users can disturb. It fails only if every attempt deviates and no counter moves during
 * the watches between them. Each watch is longer than the one before; otherwise a client with a fixed interval could
 * hit every comparison and no watch.
 *
 *     compare ▸ watch 1 ▸ compare ▸ watch 2 ▸ compare ▸ watch 3 ▸ broken
 *
 * @throws Broken, or CannotTell if others use the server
 */
async function expectUndisturbed(trial: Trial, compare: () => Promise<Deviation | undefined>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now();
    const deviation = await compare();
    if (deviation === undefined) return;
    const watchMs = attempt * Math.max(LEAST_WATCH_MS, performance.now() - startedAt);
    await skipIfUsed(trial, watchMs, deviation.name);
    if (attempt === ATTEMPTS)
      trial.fail(
        `${deviation.came}; each of ${ATTEMPTS} attempts failed although nobody else used the server`,
        deviation.reply,
      );
  }
}

/** @throws CannotTell if counters change while this check only reads them */
async function skipIfUsed(trial: Trial, forMs: number, name: string): Promise<void> {
  const names = [...ALWAYS_WATCHED, name];
  const first = await health(trial);
  const end = performance.now() + forMs;
  for (let looks = 1; performance.now() < end; looks += 1) {
    await pause(LOOK_PAUSE_MS);
    const now = await health(trial);
    if (names.some((one) => isForeign(growth(first, now, one), looks))) trial.skip(OTHERS);
  }
}

export async function health(trial: Trial): Promise<Json | undefined> {
  return (await trial.get("/health")).json;
}

export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** False if a counter grows by one per look: then the server counts the looks themselves. */
function isForeign(grown: number, looks: number): boolean {
  return grown !== 0 && grown !== looks;
}

function growth(before: Json | undefined, now: Json | undefined, name: string): number {
  return (counterOf(now, name) ?? 0) - (counterOf(before, name) ?? 0);
}

/** How long a counter may lag behind the answer that it counts. Chosen. */
const LAG_MS = 1000;
const PAUSE_MS = 20;
/**
 * A short watch before a comparison. It saves the comparison's requests if others use the server constantly. Chosen.
 */
const FIRST_WATCH_MS = 60;

/** Checks of the counters of /health. They need a server that nobody else uses, and are skipped otherwise. */
export const COUNTER_CHECKS: readonly Check[] = [
  ...checksOf("interface: Health, ModelList", {
    "health.counts-successes": counting(
      "completed_requests",
      "`completed_requests` counts successful inference requests and nothing else.",
      "one more for each answered inference; none for a refused one, for /health or for an unknown path",
      async (trial) => {
        const successes = (await someSuccesses(trial)) + (await someRefusals(trial));
        return { least: successes, most: successes };
      },
    ),
    "health.counts-batches": counting(
      "model_batches",
      "`model_batches` counts the scheduler's calls of the model.",
      "at least one more for each inference of new pairs; none for refused requests",
      oneForEachSuccess,
    ),
  }),
  ...checksOf("contract: Health", {
    "health.counts-no-batches": counting(
      "model_batches",
      "A refused request is not part of any batch.",
      "`model_batches` stays as it is",
      async (trial) => {
        const answered = await someRefusals(trial);
        if (answered > 0) trial.skip("the server answers requests that it should refuse");
        return { least: 0, most: 0 };
      },
    ),
    ...Object.fromEntries(
      ["rejected_requests", "timed_out_requests", "failed_requests", "cancelled_requests"].map((name) => [
        `health.keeps-${name.replaceAll("_", "-")}`,
        counting(
          name,
          `\`${name}\` counts neither successful requests nor invalid ones.`,
          "the same value as before",
          async (trial) => {
            await someSuccesses(trial);
            await someRefusals(trial);
            return { least: 0, most: 0 };
          },
        ),
      ]),
    ),
    "health.counts-forwards": counting(
      "model_forwards",
      "`model_forwards` counts runs of the model; a batch takes at least one.",
      "at least one more for each inference of new pairs",
      oneForEachSuccess,
    ),
    "health.counts-at-once": {
      clause: "Counters are up to date at every look, not as of the previous look.",
      expected: "the first look after an answer includes it",
      turn: "alone",
      run: async (trial) => {
        await skipIfUsed(trial, FIRST_WATCH_MS, "completed_requests");
        await expectUndisturbed(trial, () => compareFirstLook(trial));
      },
    },
    "health.counts-cancelled": {
      clause: "`cancelled_requests` counts requests whose caller disconnects before the answer.",
      expected: "at least one more after callers disconnected during inference",
      isGentle: false,
      turn: "alone",
      run: checkCancelled,
    },
    "health.idle": {
      clause: "The gauges are 0 while the server is idle.",
      expected: "`queued_requests` and `running_requests` 0 once all answers have come",
      turn: "alone",
      run: (trial) => expectUndisturbed(trial, () => compareGauges(trial)),
    },
  }),
];

/** The expected growth of a counter. */
interface Growth {
  readonly least: number;
  readonly most: number;
}

/** @param name of the counter @param run sends requests */
function counting(
  name: string,
  clause: string,
  expected: string,
  run: (trial: Trial) => Promise<Growth>,
): Draft {
  return {
    clause,
    expected,
    turn: "alone",
    run: async (trial) => {
      await skipIfUsed(trial, FIRST_WATCH_MS, name);
      await expectUndisturbed(trial, () => compareCounter(trial, name, run));
    },
  };
}

async function oneForEachSuccess(trial: Trial): Promise<Growth> {
  return { least: await someSuccesses(trial), most: Number.POSITIVE_INFINITY };
}

async function compareCounter(
  trial: Trial,
  name: string,
  run: (trial: Trial) => Promise<Growth>,
): Promise<Deviation | undefined> {
  const start = counterOf(await health(trial), name);
  const { least, most } = await run(trial);
  if (start === undefined) trial.skip(`/health has no ${name}: see health.named-counters or health.schema`);
  const end = await settled(trial, name, (now) => now - start >= least);
  const grown = (end ?? 0) - start;
  if (grown >= least && grown <= most) return undefined;
  const wanted = least === most ? `${least}` : `at least ${least}`;
  const came = `${name} went from ${start} to ${show(end)}: by ${grown}, not ${wanted}`;
  return { name, came, reply: await trial.get("/health") };
}

async function compareGauges(trial: Trial): Promise<Deviation | undefined> {
  await trial.infer(RANK, { ...SMALL_RANK, state: freshState() });
  for (const name of ["queued_requests", "running_requests"]) {
    const value = await settled(trial, name, (now) => now === 0);
    if (value === undefined) trial.skip(`/health has no ${name}: see health.schema`);
    const came = `${name} is ${value}, a second after the last answer`;
    if (value !== 0) return { name, came, reply: await trial.get("/health") };
  }
  return undefined;
}

/** Time without a look at the counters, longer than their lag should be. Chosen. */
const UNSEEN_MS = 200;

async function compareFirstLook(trial: Trial): Promise<Deviation | undefined> {
  const name = "completed_requests";
  const start = counterOf(await health(trial), name);
  if (start === undefined) trial.skip(`/health has no ${name}: see health.named-counters`);
  await trial.infer(RANK, { ...SMALL_RANK, state: freshState() });
  await pause(UNSEEN_MS);
  const reply = await trial.get("/health");
  const end = counterOf(reply.json, name) ?? 0;
  if (end > start) return undefined;
  return { name, came: `${name} was ${start} before an answer and ${end} at the first look after it`, reply };
}

/** Callers that disconnect, each halfway through the time that its request takes. */
const LEAVERS = 4;
/** Requests that take less time are done before a caller can disconnect. Chosen. */
const LEAST_WORK_MS = 20;

async function checkCancelled(trial: Trial): Promise<void> {
  const name = "cancelled_requests";
  const { maxPairs, maxCandidates } = trial.facts.limits;
  const pairs = Math.floor(maxPairs / 2);
  const body = () => ({
    state: `${freshState()} ${"and so on ".repeat(40)}`,
    questions: Object.fromEntries(
      sizesOf(pairs, maxCandidates).map((size, part) => [
        `q${part}`,
        scoreOf(texts(size), `Which is ${part}?`),
      ]),
    ),
  });
  const { reply } = await trial.infer(SYSTEMONE, body());
  if (reply.elapsedMs < LEAST_WORK_MS)
    trial.skip(
      `${pairs} pairs take ${Math.round(reply.elapsedMs)} ms: too short to disconnect before the answer`,
    );
  const before = await trial.get("/health");
  const start = counterOf(before.json, name);
  if (start === undefined) trial.skip(`/health has no ${name}: see health.schema`);
  for (let left = 0; left < LEAVERS; left += 1) {
    const wire = await trial.wire();
    const text = JSON.stringify(body());
    wire.send(trial.postHead(SYSTEMONE, `Content-Length: ${text.length}`), text);
    await pause(reply.elapsedMs / 2);
    wire.close();
  }
  const end = await settled(trial, name, (now) => now > start);
  const answered =
    (counterOf(await health(trial), "completed_requests") ?? 0) -
    (counterOf(before.json, "completed_requests") ?? 0);
  if (answered >= LEAVERS) trial.skip("the server answered before its callers disconnected");
  trial.expect(
    (end ?? 0) > start,
    `${name} stayed ${start} when ${LEAVERS} callers disconnected; ${answered} of them were counted as answered`,
    await trial.get("/health"),
  );
}

/** The counter's value once it fits, or its last value after the allowed lag. */
async function settled(
  trial: Trial,
  name: string,
  fits: (now: number) => boolean,
): Promise<number | undefined> {
  const end = performance.now() + LAG_MS;
  for (;;) {
    const now = counterOf(await health(trial), name);
    if (now === undefined || fits(now) || performance.now() > end) return now;
    await pause(PAUSE_MS);
  }
}

/** Sends valid requests. @returns how many */
async function someSuccesses(trial: Trial): Promise<number> {
  await trial.infer(SYSTEMONE, { ...SMALL, state: freshState() });
  await trial.infer(RANK, { ...SMALL_RANK, state: freshState() });
  await trial.infer(SYSTEMONE, {
    state: freshState(),
    questions: { a: NOUL, b: { ...NOUL, instructions: "Is it early?" } },
  });
  return 3;
}

/** Sends invalid requests. @returns how many were answered nevertheless; other checks report those */
async function someRefusals(trial: Trial): Promise<number> {
  const replies = [
    await trial.post(RANK, "{"),
    await trial.post(RANK, { state: "s" }),
    await trial.post(SYSTEMONE, { ...SMALL, model: "no-such/model" }),
    await trial.post(RANK, { state: "go ".repeat(9000), candidates: ["a", "b"] }),
  ];
  if (trial.facts.wantsKey) replies.push(await trial.post(RANK, SMALL_RANK, { hasKey: false }));
  await trial.get("/nowhere");
  await trial.get("/health");
  return replies.filter(({ status }) => status === 200).length;
}
