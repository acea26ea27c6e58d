import { setMaxListeners } from "node:events";
import { ServiceError } from "../errors.ts";

/** Ends work on SIGINT and SIGTERM. */
export interface Stop {
  readonly signal: AbortSignal;
  dispose(): void;
}

/** @param ending of the message, behind the name of the signal */
export function stopOnSignals(ending = ""): Stop {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // every row and every request in progress adds a listener
  const onSignal = (name: NodeJS.Signals) =>
    stop.abort(new ServiceError("CANCELLED", `stopped by ${name}${ending}`));
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  return {
    signal: stop.signal,
    dispose() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}
