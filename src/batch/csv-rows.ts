import { parse } from "csv-parse";
import { ServiceError } from "../errors.ts";
import { MAX_ROW_BYTES, type Row, rowFault, type StatePlace } from "./row.ts";

/** A record of the file, or an error. */
interface Record {
  readonly cells: readonly string[] | ServiceError;
  readonly endByte: number;
}

export interface CsvInput {
  readonly header: readonly string[];
  readonly rows: AsyncGenerator<Row>;
}

/**
 * The rows of a CSV file with a header (RFC 4180; lines may also end with LF). Holds the rows of one chunk in memory.
 * The rest of the file after an unclosed quote is one row with an error.
 *
 * @throws ServiceError INVALID_OPTION if there is no header, or it has no column for the state
 */
export async function csvRows(chunks: AsyncIterable<Uint8Array>, place: StatePlace): Promise<CsvInput> {
  const records = recordsOf(chunks);
  const first = await records.next();
  if (first.done || first.value.cells instanceof ServiceError)
    throw new ServiceError("INVALID_OPTION", "--input needs a header line with the names of its columns.");
  const header = first.value.cells;
  const twice = header.find((name, at) => header.indexOf(name) !== at);
  if (twice !== undefined)
    throw new ServiceError("INVALID_OPTION", `--input has two columns named ${JSON.stringify(twice)}.`);
  if (place !== "row" && !header.includes(place.field)) {
    const given = header.map((name) => JSON.stringify(name)).join(", ");
    throw new ServiceError(
      "INVALID_OPTION",
      `--input has no column ${JSON.stringify(place.field)} for the state, only ${given}; choose one with --state-field.`,
    );
  }
  return { header, rows: rowsOf(records, header, place) };
}

async function* rowsOf(
  records: AsyncIterable<Record>,
  header: readonly string[],
  place: StatePlace,
): AsyncGenerator<Row> {
  let number = 0;
  for await (const { cells, endByte } of records) {
    number += 1;
    yield { number, endByte, ...rowOf(cells, header, place) };
  }
}

function rowOf(
  read: readonly string[] | ServiceError,
  header: readonly string[],
  place: StatePlace,
): Pick<Row, "cells" | "state"> {
  if (read instanceof ServiceError) return { cells: header.map(() => ""), state: read };
  const cells = header.map((_, at) => read[at] ?? "");
  if (read.length !== header.length) {
    const msg = `Expected ${header.length} cells, as the header has, got ${read.length}.`;
    return { cells, state: rowFault(msg, "wrong_type") };
  }
  const members = new Map(header.map((name, at) => [name, cells[at] ?? ""]));
  return { cells, state: place === "row" ? members : (members.get(place.field) ?? "") };
}

async function* recordsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Record> {
  const read: Record[] = [];
  let failure: Error | undefined;
  const parser = parse({
    bom: true,
    relax_column_count: true, // reported per row
    relax_quotes: true, // a quote within an unquoted cell is literal
    record_delimiter: ["\r\n", "\n"],
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
    on_record: (cells: string[], { bytes }) => {
      read.push({ cells, endByte: bytes });
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
    const msg = `Not valid CSV, the rest of the file cannot be read: ${failure.message}.`;
    yield { cells: rowFault(msg, "wrong_type"), endByte: parser.info.bytes };
  }
}
