import pino from "pino";
import type { Log } from "../../server/log.ts";
import { type LogFile, standardErrorFile } from "./log-file.ts";

/**
 * Creates a log that writes to stderr, one JSON line per event or as readable text.
 *
 * @param format json, pretty or auto (pretty on a terminal, otherwise json)
 */
export async function createLog(level: string, format: string): Promise<Log> {
  const file = standardErrorFile();
  const isPretty = format === "pretty" || (format === "auto" && process.stderr.isTTY === true);
  const log = pino({ level, base: null }, isPretty ? await prettyStream(file) : file);
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    lostLines: () => file.lost,
  };
}

async function prettyStream(file: LogFile): Promise<pino.DestinationStream> {
  const { prettyFactory } = await import("pino-pretty");
  const isColored = process.stderr.isTTY === true && !process.env.NO_COLOR;
  const pretty = prettyFactory({ colorize: isColored, singleLine: true });
  return { write: (line) => file.write(pretty(line)) };
}
