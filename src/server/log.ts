/** The server's log. The application decides on levels and format. Content of requests is never logged. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** Number of lines that could not be written. */
  lostLines?(): number;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** The same log, but a line that cannot be written harms nothing. */
export function unfailing(log: Log): Log {
  const guarded =
    (level: "debug" | "info" | "warn" | "error") =>
    (fields: LogFields, message: string): void => {
      try {
        log[level](fields, message);
      } catch {
        // there is no other place to tell it
      }
    };
  return {
    debug: guarded("debug"),
    info: guarded("info"),
    warn: guarded("warn"),
    error: guarded("error"),
    lostLines: () => log.lostLines?.() ?? 0,
  };
}

/** Calls an observer, whose failure is logged and harms nothing. */
export function observe(log: Log, observer: string, call: () => void): void {
  try {
    call();
  } catch (error) {
    log.error({ err: error, observer }, "an observer has failed");
  }
}
