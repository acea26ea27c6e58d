import type { Clock } from "../../inference/clock.ts";
import { watch } from "./watch.ts";

/** Time between pings. Chosen: a ping is a few bytes each way. */
const BEAT_MS = 1_000;
/** Chosen: an idle process answers within milliseconds, on a busy machine within a few tenths of a second. */
const SILENT_MS = 2_000;
const DEAD_MS = 5_000;

export interface Heart {
  /** Whether no run is in progress. Only then can the process answer at once. */
  isIdle(): boolean;
  /** Sends the process a message that it must answer. */
  ping(): void;
  /** Called when a silent process has answered after all. */
  onBack(): void;
  /** Called when a process has been silent for too long. */
  onDead(): void;
}

/**
 * Detects an idle process that hangs. The process gets a ping every second. It counts as silent after two seconds without
 * an answer, and as dead after five.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #heart: Heart;
  #isSilent = false;
  #endBeats: () => void = () => {};
  /** Defined while a ping is unanswered. */
  #endWatch: (() => void) | undefined;

  constructor(clock: Clock, heart: Heart) {
    this.#clock = clock;
    this.#heart = heart;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Call when a process is ready. */
  start(): void {
    this.stop();
    this.#endBeats = this.#clock.after(BEAT_MS, () => this.#beat());
  }

  /** Call when the process has ended. */
  stop(): void {
    this.#endBeats();
    this.#forget();
  }

  /** Call when the process has answered a ping. It handles messages in order, so an answer counts even if a run was sent meanwhile. */
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
