import { isUtf8 } from "node:buffer";
import { parse } from "csv-parse";
import { invalidOption, ServiceError } from "../errors.ts";
import { peek } from "./input-start.ts";
import { MAX_ROW_BYTES, type Row, rowFault, type StatePlace } from "./row.ts";

/** A record of the file, or an error. */
interface Record {
  /** The bytes of each cell, as Latin-1: their encoding is checked where the cell has a name. */
  readonly cells: readonly string[] | ServiceError;
  readonly endByte: number;
  readonly line: number;
}

export interface CsvInput {
  readonly header: readonly string[];
  readonly delimiter: string;
  readonly rows: AsyncGenerator<Row>;
}

/**
 * The rows of a CSV file with a header (RFC 4180; lines may also end with LF). Holds the rows of one chunk in memory.
 * The rest of the file after an unclosed quote is one row with an error. A first line such as `sep=;` names the
 * delimiter.
 *
 * @param chunks without byte order mark
 * @param given  the delimiter, if the user has named one
 * @throws ServiceError INVALID_OPTION if there is no header, or it has no column for the state
 */
export async function csvRows(
  chunks: AsyncIterable<Uint8Array>,
  place: StatePlace,
  given?: string,
): Promise<CsvInput> {
  const { head, chunks: all } = await peek(chunks, "sep=;\r\n".length);
  // spreadsheets write and read this line before the header
  const [, separator] = /^sep=(.)\r?\n/i.exec(head.toString("latin1")) ?? [];
  const delimiter = given ?? separator ?? ",";
  const records = recordsOf(all, delimiter, separator === undefined ? 1 : 2);
  const first = await records.next();
  if (first.done || first.value.cells instanceof ServiceError)
    throw invalidOption("--input needs a header line with the names of its columns.");
  const header = named(first.value.cells.map(textOf));
  if (header === undefined)
    throw invalidOption("--input has a header line with bytes that are not UTF-8: save it as UTF-8.");
  const twice = header.find((name, at) => name !== "" && header.indexOf(name) !== at);
  if (twice !== undefined) throw invalidOption(`--input has two columns named ${JSON.stringify(twice)}.`);
  if (place !== "row" && !header.includes(place.field)) throw noStateColumn(place.field, header, delimiter);
  return { header, delimiter, rows: rowsOf(records, header, place) };
}

/**
 * The names of the columns without the empty ones at the end, which spreadsheets write; undefined for bytes that are
 * not UTF-8.
 */
function named(cells: readonly (string | undefined)[]): readonly string[] | undefined {
  const names = cells.filter((cell) => cell !== undefined);
  if (names.length < cells.length) return undefined;
  return names.slice(0, names.findLastIndex((name) => name !== "") + 1);
}

export function noStateColumn(field: string, header: readonly string[], delimiter = ","): ServiceError {
  const names = header.map((name) => JSON.stringify(name)).join(", ");
  return invalidOption(
    `--input has no column ${JSON.stringify(field)} for the state, only ${names}; choose one with --state-field.${advice(header, delimiter)}`,
  );
}

/** What to try if the header has a single column that looks like several. */
function advice(header: readonly string[], delimiter: string): string {
  const [only = ""] = header;
  if (header.length > 1 || !/[;\t|,]/.test(only)) return "";
  const shown = delimiter === "," ? "a comma" : JSON.stringify(delimiter);
  return ` Columns were separated by ${shown}; --delimiter names another character.`;
}

async function* rowsOf(
  records: AsyncIterable<Record>,
  header: readonly string[],
  place: StatePlace,
): AsyncGenerator<Row> {
  let number = 0;
  for await (const record of records) {
    number += 1;
    yield { number, endByte: record.endByte, ...rowOf(record, header, place) };
  }
}

function rowOf(
  { cells: read, line }: Record,
  header: readonly string[],
  place: StatePlace,
): Pick<Row, "cells" | "state"> {
  if (read instanceof ServiceError) return { cells: header.map(() => ""), state: read };
  const texts = read.map(textOf);
  const cells = header.map((_, at) => texts[at] ?? "");
  const fault = faultOf(read, texts, header, line);
  if (fault !== undefined) return { cells, state: rowFault(fault, "wrong_type") };
  if (place !== "row") return { cells, state: cells[header.indexOf(place.field)] ?? "" };
  const members = header.map((name, at) => [name, cells[at] ?? ""] as const);
  return { cells, state: new Map(members.filter(([name, cell]) => name !== "" || cell !== "")) };
}

/** Why a record is no row of the header, as a sentence. */
function faultOf(
  read: readonly string[],
  texts: readonly (string | undefined)[],
  header: readonly string[],
  line: number,
): string | undefined {
  const bad = texts.indexOf(undefined);
  if (bad >= 0)
    return `Expected UTF-8, got other bytes in the column ${JSON.stringify(header[bad] ?? "")} (up to line ${line} of the file).`;
  if (read.length < header.length || read.slice(header.length).some((cell) => cell !== ""))
    return `Expected ${header.length} cells, as the header has, got ${read.length}.`;
  const unnamed = header.filter((name, at) => name === "" && read[at] !== "");
  return unnamed.length > 1
    ? `Expected a name for each column, got ${unnamed.length} cells without.`
    : undefined;
}

/** The text of a cell; undefined if its bytes are not UTF-8. */
function textOf(cell: string): string | undefined {
  const bytes = Buffer.from(cell, "latin1");
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

async function* recordsOf(
  chunks: AsyncIterable<Uint8Array>,
  delimiter: string,
  firstLine: number,
): AsyncGenerator<Record> {
  const read: Record[] = [];
  let failure: Error | undefined;
  const parser = parse({
    encoding: "latin1",
    delimiter: Buffer.from(delimiter),
    from_line: firstLine,
    relax_column_count: true, // reported per row
    relax_quotes: true, // a quote within an unquoted cell is literal
    record_delimiter: ["\r\n", "\n"],
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
    on_record: (cells: string[], { bytes, lines }) => {
      read.push({ cells, endByte: bytes, line: lines });
      return undefined; // the parser's output stream is not used
    },
  });
  parser.on("error", (error) => {
    failure = error;
  });
  parser.resume();
  for await (const chunk of chunks) {
    if (failure === undefined) await new Promise<void>((resolve) => parser.write(chunk, () => resolve()));
    yield* read.splice(0);
    if (failure !== undefined) break;
  }
  if (failure === undefined) await new Promise<void>((resolve) => parser.end(() => resolve()));
  yield* read.splice(0);
  if (failure !== undefined) {
    const msg = `Expected CSV, got a fault after which the rest of the file cannot be read: ${failure.message}.`;
    yield { cells: rowFault(msg, "wrong_type"), endByte: parser.info.bytes, line: parser.info.lines };
  }
}
