import { ServiceError } from "../errors.ts";
import { inOrder, type Window } from "./in-order.ts";
import { type AnswerRows, answerRow } from "./outcome.ts";
import type { OutputFormat } from "./output-format.ts";
import type { Row } from "./row.ts";

/** Rows in progress. Chosen: twice as many as fill the model's queue, and at most 64 MiB of states. */
const WINDOW: Window = { rows: 256, bytes: 2 ** 26 };

export interface BatchParts extends AnswerRows {
  readonly rows: AsyncIterable<Row>;
  /** Rows written by an earlier run. */
  readonly doneRows: number;
  /** Whether the output already has its header. */
  readonly isBegun: boolean;
  readonly format: OutputFormat;
  /** Writes a text. Resolves when the system has taken it. */
  readonly write: (text: string) => Promise<void>;
  readonly onProgress: (state: BatchState) => void;
}

export interface BatchState {
  /** Rows of this run. */
  readonly rows: number;
  /** How many of these have an error. */
  readonly errors: number;
  /** Byte offsets in the input: where the rows of this run begin, and where the last one ends. */
  readonly beginByte: number;
  readonly endByte: number;
}

/**
 * Answers rows concurrently and writes them in order, each in one write. If the process is killed, at most the last row
 * is incomplete.
 *
 * @throws ServiceError for an error that ends the batch; written rows are kept
 */
export async function runBatch(parts: BatchParts): Promise<BatchState> {
  const { doneRows, isBegun, format, write, onProgress } = parts;
  let state: BatchState = { rows: 0, errors: 0, beginByte: 0, endByte: 0 };
  if (!isBegun && format.head !== "") await write(format.head);
  const outcomes = inOrder(
    after(parts.rows, doneRows),
    async ({ row, bytes }) => ({ ...(await answerRow(row, parts)), bytes }),
    ({ bytes }) => bytes,
    WINDOW,
  );
  for await (const outcome of outcomes) {
    await write(format.rowText(outcome));
    const isError = outcome.answer instanceof ServiceError;
    state = {
      rows: state.rows + 1,
      errors: state.errors + (isError ? 1 : 0),
      beginByte: state.rows === 0 ? outcome.row.endByte - outcome.bytes : state.beginByte,
      endByte: outcome.row.endByte,
    };
    onProgress(state);
  }
  return state;
}

/** The rows after the first `count`, each with its size in the input in bytes. */
async function* after(rows: AsyncIterable<Row>, count: number) {
  let begin = 0;
  for await (const row of rows) {
    if (row.number > count) yield { row, bytes: row.endByte - begin };
    begin = row.endByte;
  }
}
