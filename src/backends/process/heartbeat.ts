import type { Clock } from "../../inference/ports.ts";
import { watch } from "./watch.ts";

/** Chosen: a few bytes each way. */
const BEAT_MS = 1_000;
/** Chosen: a process that has nothing to do answers within milliseconds, and on a busy machine within some tenths of a second. */
const SILENT_MS = 2_000;
const DEAD_MS = 5_000;

export interface Heart {
  /** Whether nothing is computed: only then can the process answer at once. */
  isIdle(): boolean;
  /** Asks the process for a sign of life. */
  ping(): void;
  /** Told that a silent process has answered after all. */
  onBack(): void;
  /** Told of a process that is silent for so long that it is not waited for. */
  onDead(): void;
}

/**
 * Sees that a process hangs while it has nothing to do: it is asked every second, counts as silent after two seconds without an
 * answer, and as dead after five.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #heart: Heart;
  #isSilent = false;
  #endBeats: () => void = () => {};
  /** There while an answer is waited for. */
  #endWatch: (() => void) | undefined;

  constructor(clock: Clock, heart: Heart) {
    this.#clock = clock;
    this.#heart = heart;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** For a process that is there and idle. */
  start(): void {
    this.stop();
    this.#endBeats = this.#clock.after(BEAT_MS, () => this.#beat());
  }

  /** The process is gone. */
  stop(): void {
    this.#endBeats();
    this.#forget();
  }

  /** The process has answered. What it is sent later it begins later, so this also counts beside a run that was sent meanwhile. */
  answered(): void {
    const wasSilent = this.#isSilent;
    this.#forget();
    if (wasSilent) this.#heart.onBack();
  }

  #beat(): void {
    this.#endBeats = this.#clock.after(BEAT_MS, () => this.#beat());
    if (this.#endWatch !== undefined || !this.#heart.isIdle()) return;
    this.#endWatch = watch(this.#clock, SILENT_MS, () => {
      this.#isSilent = true;
      this.#endWatch = watch(this.#clock, DEAD_MS - SILENT_MS, () => this.#heart.onDead());
    });
    this.#heart.ping();
  }

  #forget(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
    this.#isSilent = false;
  }
}
