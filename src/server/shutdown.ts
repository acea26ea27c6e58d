import type { FastifyInstance } from "fastify";
import type { Clock } from "../inference/ports.ts";
import type { Log } from "./log.ts";

/** The engine as far as it matters for the end of the process. */
export interface Drainable {
  /** Takes no new work from now on; resolves when every accepted request is answered. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** `process`, or a double of it. */
export interface ProcessLike {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(code: number): void;
}

export type StopSignal = keyof typeof INTERRUPTED_EXIT;

export interface ShutdownOptions {
  readonly server: FastifyInstance;
  readonly engine: Drainable;
  readonly log: Log;
  readonly clock: Clock;
  /** Longest wait for accepted requests: their deadline and a little more. */
  readonly drainMs: number;
  readonly process: ProcessLike;
}

// 128 and the signal's number, as shells report it.
const INTERRUPTED_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;
// Chosen: time for connections to take their last answer and close, and for the backend to end.
const CLOSE_MS = 3_000;
// Chosen: what was sent before the signal has been read by then and is answered, by 503 if need be. A listener that closes earlier
// resets connections that nobody has read from.
const LISTEN_ON_MS = 250;
// Chosen. One wish may come as two signals: to a whole process group, and again from npm, which passes its own on.
const SAME_WISH_MS = 1_000;

/**
 * Ends the process in order on SIGTERM or SIGINT: no new inference at once, accepted requests are answered while
 * /health can still be asked, then the listener closes and the process exits with 0. Another signal, more than a second
 * later, exits at once.
 */
export function installShutdown(options: ShutdownOptions): void {
  const { log, clock, process } = options;
  let stoppingSince: number | undefined;
  const onSignal = (signal: StopSignal): void => {
    if (stoppingSince !== undefined) {
      if (clock.now() - stoppingSince < SAME_WISH_MS) return;
      log.warn({ signal }, "stopped immediately by a second signal");
      process.exit(INTERRUPTED_EXIT[signal]);
      return;
    }
    stoppingSince = clock.now();
    log.info({ signal }, "draining: accepted requests are answered, new ones refused");
    void stop(options).then((code) => process.exit(code));
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

/** @returns the exit code */
async function stop({ server, engine, log, clock, drainMs }: ShutdownOptions): Promise<number> {
  server.isDraining = true;
  try {
    const [isDrained] = await Promise.all([
      isDoneWithin(engine.drain(), drainMs, clock),
      new Promise<void>((resolve) => clock.after(LISTEN_ON_MS, resolve)),
    ]);
    if (!isDrained) {
      log.warn({ drainMs }, "some accepted requests were not answered in time");
    }
    const closing = server.close();
    if (!(await isDoneWithin(closing, CLOSE_MS, clock))) {
      log.warn({}, "closing connections that clients keep open");
      server.server.closeAllConnections();
      await isDoneWithin(closing, CLOSE_MS, clock);
    }
    if (!(await isDoneWithin(engine.close(), CLOSE_MS, clock)))
      log.warn({}, "the engine did not close in time");
    log.info({}, "stopped");
    return 0;
  } catch (error) {
    log.error({ err: error }, "shutdown failed");
    return 1;
  }
}

/** Whether the work ends in time. Rejects as the work does. */
async function isDoneWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  let cancel = (): void => {};
  const timeout = new Promise<boolean>((resolve) => {
    cancel = clock.after(ms, () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), timeout]);
  } finally {
    cancel();
  }
}
