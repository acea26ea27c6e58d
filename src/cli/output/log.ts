import pino from "pino";
import type { Log } from "../../server/log.ts";

/** Writes one JSON line per event to stderr. */
export function createLog(level: string): Log {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
}
