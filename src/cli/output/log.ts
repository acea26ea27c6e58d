import pino from "pino";
import type { Log } from "../../server/log.ts";

/** One JSON line an event on stderr; stdout is for results. */
export function createLog(level: string): Log {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
}
