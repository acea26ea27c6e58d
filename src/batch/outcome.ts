import { ServiceError } from "../errors.ts";
import type { JsonObject } from "../json/value.ts";
import { writeJson } from "../json/write.ts";
import type { Row } from "./row.ts";

/** The result of a row: an answer, by default its body, or an error. */
export interface Outcome<Answer = string> {
  readonly row: Row;
  readonly answer: Answer | ServiceError;
}

export interface AnswerRows<Answer = string> {
  /** Sends a request. Resolves with the answer. */
  readonly ask: (body: string) => Promise<Answer>;
  readonly questions: JsonObject;
  /** Resolves after this time. Rejects if the batch is stopped. */
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * How long rows are retried while a service is full, restarts or is away. Chosen: the default deadline of a request.
 */
const PATIENCE_SECONDS = 60;
const LONGEST_WAIT_SECONDS = 10;

/**
 * Answers a row. Transient errors are retried for a minute. If they persist, or every row would fail, the batch ends.
 *
 * @throws ServiceError that ends the batch
 */
export async function answerRow<Answer>(row: Row, parts: AnswerRows<Answer>): Promise<Outcome<Answer>> {
  const { state } = row;
  if (state instanceof ServiceError) return { row, answer: state };
  const body = writeJson({ state, questions: parts.questions });
  for (let waited = 0, pause = 1; ; pause = Math.min(2 * pause, LONGEST_WAIT_SECONDS)) {
    try {
      return { row, answer: await parts.ask(body) };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (OF_THE_ROW.has(error.kind)) return { row, answer: error };
      if (!PASSING.has(error.kind) || waited >= PATIENCE_SECONDS) throw error;
      const seconds = Math.min(error.retryAfterSeconds ?? pause, LONGEST_WAIT_SECONDS);
      waited += seconds;
      await parts.wait(1000 * seconds);
    }
  }
}

const OF_THE_ROW: ReadonlySet<string> = new Set([
  "INVALID_REQUEST",
  "BODY_TOO_LARGE",
  "BACKEND_FAILED",
  "DEADLINE_EXCEEDED",
]);
const PASSING: ReadonlySet<string> = new Set([
  "QUEUE_FULL",
  "RATE_LIMITED",
  "TOO_MANY_CONNECTIONS",
  "OVERLOADED",
  "STARTING",
  "DRAINING",
  "UNREACHABLE",
]);
