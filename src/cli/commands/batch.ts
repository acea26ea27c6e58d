import { open, stat, truncate } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { Flags } from "@oclif/core";
import { type BatchState, runBatch } from "../../batch/batch.ts";
import { csvFormat, JSONL, type OutputFormat } from "../../batch/output-format.ts";
import { counted, durationText, rateText } from "../../batch/progress-text.ts";
import { type Written, writtenCsv, writtenJsonl } from "../../batch/resume.ts";
import { fileFault, invalidOption, ServiceError } from "../../errors.ts";
import type { JsonObject } from "../../json/value.ts";
import { writeJson } from "../../json/write.ts";
import { optionFlags } from "../option-flags.ts";
import { showProgress } from "../output/progress.ts";
import { readQuestions } from "../questions-file.ts";
import {
  type Format,
  formatOf,
  inputOf,
  type LabelledInput,
  openSource,
  ROWS_FLAGS,
  RowsCommand,
  type Source,
} from "../rows.ts";
import { type Stop, stopOnSignals } from "../stop.ts";
import { checkFirst, openTarget, TARGET_FLAGS, type Target, targetOf } from "../target.ts";

export default class Batch extends RowsCommand {
  static override summary = "Answer the same questions about every row of a file.";
  static override description =
    "Rows are answered in parallel and written in the order of the input. If a row cannot be answered, its output row has the " +
    "error. After Ctrl-C or a kill, the same command with --resume continues after the last complete row.\n" +
    "Progress goes to stderr. Exit code: 0 every row has an answer, 1 a row has an error or the batch was stopped, 2 wrong " +
    "usage. docs/cli.md describes the files.";
  static override examples = [
    "<%= config.bin %> batch --questions questions.json --input rows.jsonl --output answers.jsonl",
    "<%= config.bin %> batch --questions questions.json --input tickets.csv --state-field text --output answers.csv",
    "<%= config.bin %> batch --questions questions.json --input rows.jsonl --output answers.jsonl --resume",
    "zcat rows.jsonl.gz | <%= config.bin %> batch --questions questions.json --input - --url http://127.0.0.1:8700 > answers.jsonl",
  ];
  static override flags = {
    ...ROWS_FLAGS,
    input: Flags.string({
      required: true,
      helpValue: "<file>",
      description: "rows, .jsonl or .csv; - reads standard input",
    }),
    output: Flags.string({
      default: "-",
      helpValue: "<file>",
      description: "file for the answers, .jsonl or .csv; - writes to standard output",
    }),
    "output-format": Flags.string({
      options: ["jsonl", "csv"],
      helpValue: "jsonl|csv",
      description: "format of the output [default: by the file name, else that of the input]",
    }),
    "whole-row": Flags.boolean({ description: "use each whole row as the state" }),
    resume: Flags.boolean({
      description: "continue after the last complete row of the output",
      exclusive: ["overwrite"],
    }),
    overwrite: Flags.boolean({ description: "replace an existing output file" }),
    json: Flags.boolean({
      description: "print the counts of rows and errors as JSON; needs an --output that is a file",
    }),
    ...TARGET_FLAGS,
    ...optionFlags(["tuning"]),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Batch);
    const target = await targetOf(flags, () => this.options(flags));
    this.files = [flags.questions];
    const input = inputOf(flags, flags.output);
    const outputFormat = formatOf("--output", flags.output, flags["output-format"], input.inputFormat);
    if (flags.json && flags.output === "-")
      throw invalidOption("--json prints counts to standard output, so it needs an --output that is a file.");
    const questions = await readQuestions(flags.questions);
    const summary = await batch({
      questions,
      ...input,
      output: flags.output,
      outputFormat,
      isResumed: flags.resume,
      isOverwriting: flags.overwrite,
      target,
    });
    if (flags.json) this.log(JSON.stringify({ output: flags.output, ...summary }));
    if (summary.errors > 0) this.exit(1);
  }
}

interface BatchOptions extends LabelledInput {
  readonly questions: JsonObject;
  /** A file, or `-`. */
  readonly output: string;
  readonly outputFormat: Format;
  readonly isResumed: boolean;
  readonly isOverwriting: boolean;
  readonly target: Target;
}

/** The result of a batch. */
interface BatchSummary {
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
async function batch(options: BatchOptions): Promise<BatchSummary> {
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

/** The destination of a batch's rows. */
interface BatchOutput {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Standard output. The program ends if it cannot be written. */
function standardOutput(stream: NodeJS.WriteStream): BatchOutput {
  return {
    write: (text) => new Promise((resolve) => stream.write(text, () => resolve())),
    async close() {},
  };
}

/**
 * A file that is written from byte `keptBytes` on.
 *
 * @throws ServiceError INVALID_OPTION if it cannot be written
 */
async function fileOutput(file: string, keptBytes: number): Promise<BatchOutput> {
  try {
    const handle = await open(file, keptBytes === 0 ? "w" : "a");
    if (keptBytes > 0) await truncate(file, keptBytes);
    return {
      write: (text) => handle.appendFile(text),
      close: () => handle.close(),
    };
  } catch (cause) {
    throw invalidOption(
      `--output ${file} cannot be written: ${fileFault(cause, "its folder does not exist")}.`,
    );
  }
}

/**
 * Length of a file in bytes; undefined if it does not exist. @throws ServiceError INVALID_OPTION if it is not a regular
 * file
 */
async function lengthOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && !found.isFile())
    throw invalidOption(`--output: expected a regular file or -, got ${file}, which is neither.`);
  return found?.size;
}
