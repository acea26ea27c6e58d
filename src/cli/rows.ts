import { createReadStream } from "node:fs";
import { access, constants, realpath, stat } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { Flags } from "@oclif/core";
import { csvRows, noStateColumn } from "../batch/csv-rows.ts";
import { openRowBytes } from "../batch/input-start.ts";
import { jsonlRows } from "../batch/jsonl-rows.ts";
import type { CsvTraits } from "../batch/output-format.ts";
import type { Row, StatePlace } from "../batch/row.ts";
import { fileFault, invalidOption, ServiceError } from "../errors.ts";
import type { LabelledRow } from "../evaluation/answer-rows.ts";
import type { JsonObject } from "../json/value.ts";
import { writeJson } from "../json/write.ts";
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

/** The input of labelled rows. */
export interface LabelledInput {
  /** A file, or `-`. */
  readonly input: string;
  readonly inputFormat: Format;
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

/** @throws ServiceError INVALID_OPTION for a question for which no row has a label */
export function checkLabels(rows: readonly LabelledRow[], questions: JsonObject): void {
  const bare = [...questions.keys()].find((name) => rows.every(({ labels }) => !labels.has(name)));
  if (bare === undefined) return;
  const quoted = JSON.stringify(bare);
  throw invalidOption(
    `--input has no label for ${quoted}: rows need it as {"labels": {${quoted}: ...}}, or in CSV in the column ${quoted}.`,
  );
}
