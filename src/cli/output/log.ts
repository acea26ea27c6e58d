import pino from "pino";
import type { Log } from "../../server/log.ts";

/**
 * Creates a log that writes to stderr, one JSON line per event or as readable text.
 *
 * @param format json, pretty or auto (pretty on a terminal, otherwise json)
 */
export async function createLog(level: string, format: string): Promise<Log> {
  const isPretty = format === "pretty" || (format === "auto" && process.stderr.isTTY === true);
  const stream = isPretty ? await prettyStream() : pino.destination({ dest: 2, sync: true });
  const log: Log = pino({ level, base: null }, stream);
  return log;
}

async function prettyStream(): Promise<pino.DestinationStream> {
  const { default: pretty } = await import("pino-pretty");
  const isColored = process.stderr.isTTY === true && !process.env.NO_COLOR;
  return pretty({ destination: 2, sync: true, colorize: isColored, singleLine: true });
}
