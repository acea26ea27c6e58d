import type { Clock } from "../../src/inference/clock.ts";

/** A clock that only the test advances. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  get timerCount(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Advances, calling timers in order of time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#firstUntil(end); next !== undefined; next = this.#firstUntil(end)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = end;
  }

  /** Advances without calling timers, as in a process that is too busy for them. */
  stall(ms: number): void {
    this.#now += ms;
  }

  #firstUntil(end: number) {
    return [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  }
}

/** Lets everything that is ready to run, run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
