import type { FastifyInstance } from "fastify";
import type { Clock } from "../inference/clock.ts";
import type { Log } from "./log.ts";

/** The part of the engine that shutdown uses. */
export interface Drainable {
  /** Accepts no more requests. Resolves when every accepted request has been answered. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** `process`, or a test double. */
export interface ProcessLike {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  on(signal: "SIGHUP", listener: () => void): unknown;
  exit(code: number): void;
}

export type StopSignal = keyof typeof INTERRUPTED_EXIT;

export interface ShutdownOptions {
  readonly server: FastifyInstance;
  readonly engine: Drainable;
  readonly log: Log;
  readonly clock: Clock;
  /** Maximum wait for accepted requests: slightly more than their deadline. */
  readonly drainMs: number;
  readonly process: ProcessLike;
}

// 128 plus the number of the signal, as shells report it
const INTERRUPTED_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;
// chosen: time for connections to receive their last response and close, and for the backend to end
const CLOSE_MS = 3_000;
// chosen: by then, requests sent before the signal have been read and get a response, if only 503. Closing the listener earlier would
// reset connections that have not been read from.
const LISTEN_ON_MS = 250;
// chosen: a single Ctrl-C may arrive as two signals, one to the process group and one forwarded by npm
const SAME_WISH_MS = 1_000;

/**
 * Shuts down gracefully on SIGTERM or SIGINT. New inference requests are refused at once. Accepted ones are answered, and
 * /health keeps responding meanwhile. Then the listener closes and the process exits with 0. A second signal, more than a
 * second later, ends the process at once.
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
    void stop(options).then((code) => process.exit(code));
    log.info({ signal }, "draining: finishing accepted requests, refusing new ones");
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

/** Whether the work ends within `ms`. Rejects if the work rejects. */
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
