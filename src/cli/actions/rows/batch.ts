import { setMaxListeners } from "node:events";
import { createReadStream } from "node:fs";
import { access, constants, realpath, stat } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { type BatchState, runBatch } from "../../../batch/batch.ts";
import { csvRows } from "../../../batch/csv-rows.ts";
import { openRowBytes } from "../../../batch/input-start.ts";
import { jsonlRows } from "../../../batch/jsonl-rows.ts";
import { type CsvTraits, csvFormat, JSONL, type OutputFormat } from "../../../batch/output-format.ts";
import { counted, durationText, rateText } from "../../../batch/progress-text.ts";
import { type Written, writtenCsv, writtenJsonl } from "../../../batch/resume.ts";
import type { Row, StatePlace } from "../../../batch/row.ts";
import { fileFault, invalidOption, ServiceError } from "../../../errors.ts";
import type { JsonObject } from "../../../json/value.ts";
import { writeJson } from "../../../json/write.ts";
import { showProgress } from "../../output/progress.ts";
import { type BatchOutput, fileOutput, lengthOf, standardOutput } from "../../output/rows/batch-output.ts";
import { emptyInput, standardInput } from "../../state-text.ts";
import { checkFirst, openTarget, type Target } from "../ask.ts";

export type Format = "jsonl" | "csv";

export interface BatchOptions {
  readonly questions: JsonObject;
  /** A file, or `-`. */
  readonly input: string;
  readonly inputFormat: Format;
  /** Of the columns of CSV; undefined: as the input says. */
  readonly delimiter: string | undefined;
  readonly output: string;
  readonly outputFormat: Format;
  readonly place: StatePlace;
  readonly isResumed: boolean;
  readonly isOverwriting: boolean;
  readonly target: Target;
}

/** The result of a batch. */
export interface BatchSummary {
  /** Rows answered by this run, including rows with an error. */
  readonly rows: number;
  readonly errors: number;
  /** Rows answered by the earlier run that this one resumed. */
  readonly earlierRows: number;
  readonly seconds: number;
}

/**
 * Answers the rows of a file. A signal ends the batch after a complete row.
 *
 * @throws ServiceError INVALID_OPTION | INVALID_REQUEST (the questions), both before a model is loaded | CANCELLED (a
 * signal) |
 *         errors that end a batch
 */
export async function batch(options: BatchOptions): Promise<BatchSummary> {
  const { questions, target } = options;
  const stop = stopOnSignals();
  const orStopped = (error: unknown): never => {
    throw stop.signal.aborted ? stop.signal.reason : error;
  };
  let output: BatchOutput | undefined;
  try {
    const probe = writeJson({ state: "A state.", questions });
    await checkFirst("systemone", probe, target);
    const source = await openSource(options, stop.signal).catch(orStopped);
    const format = options.outputFormat === "jsonl" ? JSONL : csvFormat(source, questions);
    const written = await earlierOutput(options, format);
    output =
      options.output === "-"
        ? standardOutput(process.stdout)
        : await fileOutput(options.output, written.bytes);
    const decider = await openTarget(target);
    try {
      stop.signal.throwIfAborted();
      // a service may have lower limits, and token limits are checked only here
      await decider.ask("systemone", probe, { signal: stop.signal }).catch(orStopped);
      return await run({ options, source, format, written, output, stop }, (body) =>
        decider.ask("systemone", body, { signal: stop.signal }),
      );
    } finally {
      await decider.close();
    }
  } finally {
    stop.dispose();
    await output?.close();
  }
}

/** An input and its rows. */
export interface Source extends CsvTraits {
  readonly rows: AsyncIterable<Row>;
  readonly totalBytes: number | undefined;
}

interface Run {
  readonly options: BatchOptions;
  readonly source: Source;
  readonly format: OutputFormat;
  readonly written: Written;
  readonly output: BatchOutput;
  readonly stop: Stop;
}

async function run(
  { options, source, format, written, output, stop }: Run,
  ask: (body: string) => Promise<string>,
): Promise<BatchSummary> {
  const startedAt = performance.now();
  let state: BatchState = { rows: 0, errors: 0, beginByte: 0, endByte: 0 };
  const ms = () => performance.now() - startedAt;
  const progress = showProgress(process.stderr, () => {
    const { rows, errors, beginByte, endByte } = state;
    const { totalBytes } = source;
    return { rows, errors, bytes: endByte - beginByte, endByte, totalBytes, ms: ms() };
  });
  const failed = (error: unknown): never => {
    const reason = stop.signal.aborted ? stop.signal.reason : error;
    if (!(reason instanceof Error && "code" in reason)) throw reason; // unexpected: neither a ServiceError nor a system error
    const kind = reason instanceof ServiceError ? reason.kind : "INTERNAL";
    const done = counted(written.rows + state.rows, "row");
    const advice = options.output === "-" ? "" : "; continue with --resume";
    throw new ServiceError(kind, `${withoutStop(reason.message)}; ${done} written${advice}.`, {
      cause: reason,
    });
  };
  try {
    await runBatch({
      rows: source.rows,
      questions: options.questions,
      ask,
      wait: (pauseMs) => wait(pauseMs, undefined, { signal: stop.signal }),
      doneRows: written.rows,
      isBegun: written.bytes > 0,
      format,
      write: (text) => output.write(text),
      onProgress: (now) => {
        state = now;
      },
    }).catch(failed);
  } finally {
    progress.stop();
  }
  const seconds = ms() / 1000;
  process.stderr.write(`decision batch: ${summary(state, written, seconds)}\n`);
  return { rows: state.rows, errors: state.errors, earlierRows: written.rows, seconds };
}

function summary({ rows, errors }: BatchState, written: Written, seconds: number): string {
  const parts = [
    `${counted(rows, "row")} in ${durationText(seconds)} (${rateText(rows / Math.max(seconds, 0.001))} rows/s)`,
  ];
  if (written.rows > 0) parts.push(`${counted(written.rows, "row")} by an earlier run`);
  parts.push(errors === 0 ? "no errors" : `${counted(errors, "row")} with an error`);
  return parts.join(", ");
}

const withoutStop = (message: string) => message.replace(/\.$/, "");

type SourceOptions = Pick<BatchOptions, "input" | "output" | "inputFormat" | "delimiter" | "place">;

/** @throws ServiceError INVALID_OPTION */
export async function openSource(options: SourceOptions, signal: AbortSignal): Promise<Source> {
  const { input, output, inputFormat, delimiter, place } = options;
  let totalBytes: number | undefined;
  if (input !== "-") {
    const refuse = (cause: unknown) => {
      throw invalidOption(`--input ${input} cannot be read: ${fileFault(cause)}.`);
    };
    const found = await stat(input).catch(refuse);
    if (found.isDirectory()) throw invalidOption(`--input: expected a file, got the folder ${input}.`);
    if (found.isFile()) totalBytes = found.size;
    await access(input, constants.R_OK).catch(refuse);
    if (output !== "-" && (await isSameFile(input, output)))
      throw invalidOption("--input and --output are the same file.");
  }
  const given: AsyncIterable<Uint8Array> = addAbortSignal(
    signal,
    input === "-" ? standardInput("--input") : createReadStream(input),
  );
  const { chunks, hasMark, isEmpty } = await openRowBytes(given);
  if (isEmpty && input === "-") throw emptyInput("--input");
  if (inputFormat === "jsonl")
    return { rows: jsonlRows(chunks, place), header: undefined, hasMark, delimiter, totalBytes };
  return { ...(await csvRows(chunks, place, delimiter)), hasMark, totalBytes };
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((file) => realpath(file).catch(() => undefined)));
  return a !== undefined && a === b;
}

/** @throws ServiceError INVALID_OPTION */
async function earlierOutput(options: BatchOptions, format: OutputFormat): Promise<Written> {
  const { output, outputFormat, questions, isResumed, isOverwriting } = options;
  const nothing = { rows: 0, bytes: 0 };
  if (output === "-") {
    if (isResumed) throw invalidOption("--resume needs an --output file.");
    return nothing;
  }
  const length = await lengthOf(output);
  if (!length) return nothing;
  if (isResumed)
    return outputFormat === "jsonl" ? writtenJsonl(output, questions) : writtenCsv(output, format);
  if (isOverwriting) return nothing;
  throw invalidOption(
    `--output ${output} already exists: use --resume to continue it, or --overwrite to replace it.`,
  );
}

/** Ends work on SIGINT and SIGTERM. */
export interface Stop {
  readonly signal: AbortSignal;
  dispose(): void;
}

export function stopOnSignals(): Stop {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // every row that waits for a service adds a listener, so the limit is lifted
  const onSignal = (name: NodeJS.Signals) => stop.abort(new ServiceError("CANCELLED", `stopped by ${name}`));
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
