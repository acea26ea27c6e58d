import { readSteps } from "../../src/json/read.ts";
import type { Steps } from "../../src/json/slices.ts";
import type { JsonValue } from "../../src/json/value.ts";

/** Runs to the end without a pause. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Reads JSON without letting the event loop turn. @throws ServiceError INVALID_REQUEST */
export function parseJson(text: string): JsonValue {
  return runAtOnce(readSteps(text));
}
