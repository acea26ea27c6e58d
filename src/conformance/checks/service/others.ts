import type { Reply } from "../../client/exchange.ts";
import type { Json } from "../../client/json.ts";
import type { Trial } from "../../trial/trial.ts";
import { counterOf } from "./server.ts";

/** Somebody else's request may end within one comparison, hardly within each of so many. */
const ATTEMPTS = 3;
/** The first watch is as long as the comparison took, and no shorter than this. Chosen. */
const LEAST_WATCH_MS = 1000;
const LOOK_PAUSE_MS = 50;

const OTHERS = "others use the server: its counters move without us";
/** What inferences of anybody move. */
const ALWAYS_WATCHED = ["completed_requests", "model_batches"];

/** What a comparison found, other than it should. */
export interface Deviation {
  /** The member of /health. */
  readonly name: string;
  readonly came: string;
  readonly reply: Reply;
}

/**
 * Holds the server to a comparison that other users can disturb: it fails when it deviates at every attempt while
 * nobody else moves a counter. Each watch is longer than the one before: else a client that asks at a steady beat could
 * meet every comparison and no watch.
 *
 *     compare ▸ watch 1 ▸ compare ▸ watch 2 ▸ compare ▸ watch 3 ▸ broken
 *
 * @throws Broken, or CannotTell where others use the server
 */
export async function expectUndisturbed(
  trial: Trial,
  compare: () => Promise<Deviation | undefined>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now();
    const deviation = await compare();
    if (deviation === undefined) return;
    const watchMs = attempt * Math.max(LEAST_WATCH_MS, performance.now() - startedAt);
    await skipIfUsed(trial, watchMs, deviation.name);
    if (attempt === ATTEMPTS)
      trial.fail(
        `${deviation.came}; each of ${ATTEMPTS} attempts failed while nobody else moved a counter`,
        deviation.reply,
      );
  }
}

/** @throws CannotTell where counters move while this check does nothing but look at them */
export async function skipIfUsed(trial: Trial, forMs: number, name: string): Promise<void> {
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

/** One more with every look is a server that counts the looks, and that is no other user. */
function isForeign(grown: number, looks: number): boolean {
  return grown !== 0 && grown !== looks;
}

function growth(before: Json | undefined, now: Json | undefined, name: string): number {
  return (counterOf(now, name) ?? 0) - (counterOf(before, name) ?? 0);
}
