import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { parse } from "csv-parse";
import { invalidOption, type ServiceError } from "../errors.ts";
import type { JsonObject } from "../json/value.ts";
import { isRecord, parsedJson } from "../records.ts";
import type { OutputFormat } from "./output-format.ts";

/** The complete rows that an earlier run has written, and where they end. */
export interface Written {
  readonly rows: number;
  /** Length of the file in bytes without an incomplete last row. */
  readonly bytes: number;
}

const NOTHING: Written = { rows: 0, bytes: 0 };
const CHUNK_BYTES = 65_536;
const NEWLINE = 0x0a;

/**
 * Finds the last complete row of a JSON Lines output by reading only the end of the file.
 *
 * @throws ServiceError INVALID_OPTION if `decision batch` did not write this file, or wrote it for other questions
 */
export async function writtenJsonl(file: string, questions: JsonObject): Promise<Written> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const end = await newlineBefore(handle, size);
    if (end === undefined)
      return emptyOr(file, await bytesAt(handle, 0, Math.min(size, 8)), Buffer.from('{"row":1'));
    const begin = ((await newlineBefore(handle, end)) ?? -1) + 1;
    return { rows: rowOf(String(await bytesAt(handle, begin, end)), file, questions), bytes: end + 1 };
  } finally {
    await handle.close();
  }
}

/** The row number of a complete line. @throws ServiceError INVALID_OPTION if it does not answer these questions */
function rowOf(line: string, file: string, questions: JsonObject): number {
  const found = parsedJson(line);
  const { row, answers, error } = isRecord(found) ? found : {};
  if (!Number.isInteger(row) || (answers === undefined) === (error === undefined)) throw foreign(file);
  if (isRecord(answers) && sorted(Object.keys(answers)) !== sorted([...questions.keys()]))
    throw invalidOption(`--resume: ${file} has answers to other questions.`);
  return Number(row);
}

const sorted = (names: readonly string[]) => JSON.stringify([...names].sort());

/** Position of the last newline before a position. */
async function newlineBefore(handle: FileHandle, position: number): Promise<number | undefined> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let end = position; end > 0; ) {
    const begin = Math.max(0, end - CHUNK_BYTES);
    const { bytesRead } = await handle.read(chunk, 0, end - begin, begin);
    const found = chunk.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (found >= 0) return begin + found;
    end = begin;
  }
  return undefined;
}

async function bytesAt(handle: FileHandle, begin: number, end: number): Promise<Buffer> {
  const bytes = Buffer.alloc(end - begin);
  await handle.read(bytes, 0, bytes.length, begin);
  return bytes;
}

/**
 * Counts the complete rows of a CSV output.
 *
 * @param format with the header line that this run would write
 * @throws ServiceError INVALID_OPTION if `decision batch` did not write this file, or wrote it with other columns
 */
export async function writtenCsv(
  file: string,
  { head, delimiter = "," }: Pick<OutputFormat, "head" | "delimiter">,
): Promise<Written> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const expected = Buffer.from(head);
    const begin = await bytesAt(handle, 0, Math.min(size, expected.length));
    if (!begin.equals(expected)) return emptyOr(file, begin, expected);
    return await countRecords(file, size, expected.length, delimiter);
  } finally {
    await handle.close();
  }
}

/** Counts the rows after the header. A last row without a newline, or within quotes, is incomplete. */
async function countRecords(
  file: string,
  size: number,
  headBytes: number,
  delimiter: string,
): Promise<Written> {
  let written: Written = { rows: 0, bytes: headBytes };
  const parser = parse({
    delimiter,
    relax_column_count: true,
    record_delimiter: "\n",
    on_record: (_: unknown, { bytes }) => {
      // the parser treats the end of the file as the end of a row
      const end = headBytes + bytes;
      if (end < size || endsWithNewline) written = { rows: written.rows + 1, bytes: end };
      return undefined;
    },
  });
  let failure: Error | undefined;
  parser.on("error", (error) => {
    failure = error; // an unclosed quote: the last row is incomplete
  });
  parser.resume();
  let endsWithNewline = false;
  for await (const chunk of createReadStream(file, { start: headBytes })) {
    endsWithNewline = chunk.at(-1) === NEWLINE;
    if (failure === undefined) await new Promise<void>((resolve) => parser.write(chunk, () => resolve()));
  }
  if (failure === undefined) await new Promise<void>((resolve) => parser.end(() => resolve()));
  return written;
}

/** A file with less than one row can be started anew if it is the beginning of one. */
function emptyOr(file: string, found: Buffer, expected: Buffer): Written {
  const length = Math.min(found.length, expected.length);
  if (found.subarray(0, length).equals(expected.subarray(0, length))) return NOTHING;
  throw foreign(file);
}

function foreign(file: string): ServiceError {
  return invalidOption(
    `--resume needs an output of decision batch for the same input and questions; ${file} is not one.`,
  );
}
