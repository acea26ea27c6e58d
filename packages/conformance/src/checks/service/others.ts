import type { Reply } from "../../client/exchange.ts";
import type { Json } from "../../client/json.ts";
import type { Trial } from "../../trial/trial.ts";
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
export interface Deviation {
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
        `${deviation.came}; each of ${ATTEMPTS} attempts failed although nobody else used the server`,
        deviation.reply,
      );
  }
}

/** @throws CannotTell if counters change while this check only reads them */
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

/** False if a counter grows by one per look: then the server counts the looks themselves. */
function isForeign(grown: number, looks: number): boolean {
  return grown !== 0 && grown !== looks;
}

function growth(before: Json | undefined, now: Json | undefined, name: string): number {
  return (counterOf(now, name) ?? 0) - (counterOf(before, name) ?? 0);
}
