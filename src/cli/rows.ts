import { createReadStream } from "node:fs";
import { access, constants, realpath, stat } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { Flags } from "@oclif/core";
import { csvRows, noStateColumn } from "../batch/csv-rows.ts";
import { openRowBytes } from "../batch/input-start.ts";
import { jsonlRows } from "../batch/jsonl-rows.ts";
import type { CsvTraits } from "../batch/output-format.ts";
import type { Row, StatePlace } from "../batch/row.ts";
import { fileFault, invalidOption, type Location, ServiceError } from "../errors.ts";
import type { LabelledRow } from "../evaluation/answer-rows.ts";
import { askedRow, rowLabels } from "../evaluation/labelled-row.ts";
import type { JsonObject } from "../json/value.ts";
import { writeJson } from "../json/write.ts";
import { BaseCommand } from "./base-command.ts";
import { terminalProgress } from "./output/progress.ts";
import { emptyInput, standardInput } from "./state-text.ts";

/** Flags of commands that read questions and rows. */
export const ROWS_FLAGS = {
  questions: Flags.string({
    required: true,
    helpValue: "<file.json>",
    description: "JSON file with named questions, as in a request",
  }),
  "input-format": Flags.string({
    options: ["jsonl", "csv"],
    helpValue: "jsonl|csv",
    description: "format of the input [default: by the file name, else jsonl]",
  }),
  delimiter: Flags.string({
    helpValue: "<character>",
    description:
      'character between the columns of CSV, for example ";" or tab [default: tab for .tsv, that of a first line "sep=;", else a comma]',
  }),
  "state-field": Flags.string({
    default: "state",
    helpValue: "<name>",
    description: "member or column that has the state",
  }),
};

/** Flags of commands whose rows have labels. */
export const LABELLED_ROWS_FLAGS = {
  ...ROWS_FLAGS,
  input: Flags.string({
    required: true,
    helpValue: "<file>",
    description: "labelled rows, .jsonl or .csv; - reads standard input",
  }),
  "whole-row": Flags.boolean({ description: "use each whole row, without its labels, as the state" }),
};

/** Base class of the commands that ask the questions of a file about rows. Its errors name the file. */
export abstract class RowsCommand extends BaseCommand {
  /** Files of questions. */
  protected files: readonly string[] = ["--questions"];

  protected override nameOf(place: Location): string {
    const [part, ...rest] = place;
    return part === "questions" ? [this.files.join(" or "), ...rest].join(" ") : super.nameOf(place);
  }
}

interface GivenFlags {
  readonly input: string;
  readonly "input-format"?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly "state-field": string;
  readonly "whole-row": boolean;
}

/**
 * @param output a CSV file whose delimiter counts if the input has another format @throws ServiceError INVALID_OPTION
 */
export function inputOf(flags: GivenFlags, output = flags.input): LabelledInput {
  const inputFormat = formatOf("--input", flags.input, flags["input-format"], "jsonl");
  return {
    input: flags.input,
    inputFormat,
    delimiter: delimiterOf(flags.delimiter, inputFormat === "csv" ? flags.input : output),
    place: flags["whole-row"] ? "row" : { field: flags["state-field"] },
  };
}

export type Format = "jsonl" | "csv";

/**
 * The format of a file of rows: as given, otherwise by the file's extension. @throws ServiceError INVALID_OPTION for an
 * unknown extension
 */
export function formatOf(flag: string, file: string, given: string | undefined, standard: Format): Format {
  if (given === "jsonl" || given === "csv") return given;
  if (file === "-") return standard;
  if (/\.(jsonl|ndjson)$/i.test(file)) return "jsonl";
  if (/\.[ct]sv$/i.test(file)) return "csv";
  throw invalidOption(
    `${flag}: expected a name that ends in .jsonl, .csv or .tsv, got another; otherwise add ${flag}-format.`,
  );
}

/**
 * The character between the columns of CSV: as given, or a tab for .tsv; undefined: as the input says.
 *
 * @throws ServiceError INVALID_OPTION
 */
export function delimiterOf(given: string | undefined, file: string): string | undefined {
  if (given === undefined) return /\.tsv$/i.test(file) ? "\t" : undefined;
  const character = given === "tab" || given === "\\t" ? "\t" : given;
  if (/^[^"\r\n]$/u.test(character)) return character;
  throw invalidOption(
    `--delimiter: expected one character other than a quote, or tab, got ${JSON.stringify(given.slice(0, 60))}.`,
  );
}

/** An input and its rows. */
export interface Source extends CsvTraits {
  readonly rows: AsyncIterable<Row>;
  readonly totalBytes: number | undefined;
}

type SourceOptions = LabelledInput & { readonly output: string };

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

/** An input of rows. */
export interface LabelledInput {
  /** A file, or `-`. */
  readonly input: string;
  readonly inputFormat: Format;
  /** Of the columns of CSV; undefined: as the input says. */
  readonly delimiter: string | undefined;
  readonly place: StatePlace;
}

/** A request with the questions, to check them before the rows are read. */
export const probeOf = (questions: JsonObject) => writeJson({ state: "A state.", questions });

/** Reads all rows with their labels. @throws ServiceError INVALID_OPTION */
export async function readRows(options: LabelledInput, signal: AbortSignal): Promise<Row[]> {
  const { input, inputFormat, delimiter, place } = options;
  // whole rows, because the labels are other members of the row
  const source = await openSource({ input, inputFormat, delimiter, output: "-", place: "row" }, signal);
  if (place !== "row" && source.header?.includes(place.field) === false)
    throw noStateColumn(place.field, source.header, source.delimiter);
  const rows: Row[] = [];
  try {
    for await (const row of source.rows) rows.push(row);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  const [first] = rows;
  if (first === undefined) throw invalidOption("--input has no rows.");
  if (first.state instanceof ServiceError && rows.every(({ state }) => state instanceof ServiceError))
    throw invalidOption(`--input has no row that can be read. Row 1: ${first.state.message}`);
  return rows;
}

/**
 * The rows with the labels of some questions.
 *
 * @param rows   whose states are whole rows
 * @param names  of all questions: their labels are no part of a state
 * @param needed questions that need a label in any row
 * @throws ServiceError INVALID_OPTION
 */
export function labelled(
  rows: readonly Row[],
  place: StatePlace,
  questions: JsonObject,
  { names, needed = names }: { readonly names: readonly string[]; readonly needed?: readonly string[] },
): readonly LabelledRow[] {
  const found = rows.map((row) => ({ row: askedRow(row, place, names), labels: rowLabels(row, questions) }));
  const bare = needed.find((name) => found.every(({ labels }) => !labels.has(name)));
  if (bare === undefined) return found;
  const quoted = JSON.stringify(bare);
  throw invalidOption(
    `--input has no label for ${quoted}: rows need it as {"labels": {${quoted}: ...}}, or in CSV in the column ${quoted}.`,
  );
}

/** Does work on rows with its progress on the terminal. @throws the signal's reason; what `work` throws */
export async function withProgress<Result>(
  count: number,
  signal: AbortSignal,
  work: (onRow: (done: number) => void, pause: (ms: number) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const progress = terminalProgress(process.stderr);
  try {
    return await work(
      (done) => progress.show(`${done} of ${count} rows`),
      (ms) => wait(ms, undefined, { signal }),
    );
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    progress.clear();
  }
}
