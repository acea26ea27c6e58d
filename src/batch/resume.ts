import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { parse } from "csv-parse";
import { ServiceError } from "../errors.ts";
import type { JsonObject } from "../json/value.ts";

/** What an earlier run has written: whole rows, and where they end. */
export interface Written {
  readonly rows: number;
  /** Length of the file without a row that was cut off. */
  readonly bytes: number;
}

const NOTHING: Written = { rows: 0, bytes: 0 };
const CHUNK_BYTES = 65_536;
const NEWLINE = 0x0a;

/**
 * Finds the last whole row of a JSON Lines output, by its end alone.
 *
 * @throws ServiceError INVALID_OPTION if `decision batch` has not written this file, or with other questions
 */
export async function writtenJsonl(file: string, questions: JsonObject): Promise<Written> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const end = await newlineBefore(handle, size);
    if (end === undefined) return emptyOr(file, await textOf(handle, 0, Math.min(size, 8)), '{"row":1');
    const begin = ((await newlineBefore(handle, end)) ?? -1) + 1;
    return { rows: rowOf(await textOf(handle, begin, end), file, questions), bytes: end + 1 };
  } finally {
    await handle.close();
  }
}

/** The number in a whole line, if it answers these questions. */
function rowOf(line: string, file: string, questions: JsonObject): number {
  const { row, answers, error } = objectOf(line);
  if (!Number.isInteger(row) || (answers === undefined) === (error === undefined)) throw foreign(file);
  const names = typeof answers === "object" && answers !== null ? Object.keys(answers) : undefined;
  const isSame = names === undefined || sorted(names) === sorted([...questions.keys()]);
  if (!isSame) throw otherQuestions(file);
  return Number(row);
}

const sorted = (names: readonly string[]) => JSON.stringify([...names].sort());

function objectOf(line: string): {
  readonly row?: unknown;
  readonly answers?: unknown;
  readonly error?: unknown;
} {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

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

async function textOf(handle: FileHandle, begin: number, end: number): Promise<string> {
  const bytes = Buffer.alloc(end - begin);
  await handle.read(bytes, 0, bytes.length, begin);
  return bytes.toString();
}

/**
 * Counts the whole rows of a CSV output.
 *
 * @param head the header line that this run would write
 * @throws ServiceError INVALID_OPTION if `decision batch` has not written this file, or with other columns
 */
export async function writtenCsv(file: string, head: string): Promise<Written> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const begin = await textOf(handle, 0, Math.min(size, Buffer.byteLength(head)));
    if (begin !== head) return emptyOr(file, begin, head);
    return await countRecords(file, size, Buffer.byteLength(head));
  } finally {
    await handle.close();
  }
}

/** Rows behind the header. A row at the end without a newline, or within quotes, is cut off. */
async function countRecords(file: string, size: number, headBytes: number): Promise<Written> {
  let written: Written = { rows: 0, bytes: headBytes };
  const parser = parse({
    relax_column_count: true,
    record_delimiter: "\n",
    on_record: (_: unknown, { bytes }) => {
      // the parser takes the end of the file for that of a row
      const isWhole = bytes < size || endsWithNewline;
      if (isWhole && bytes > headBytes) written = { rows: written.rows + 1, bytes };
      return undefined;
    },
  });
  let failure: Error | undefined;
  parser.on("error", (error) => {
    failure = error; // a quote that is not closed: the last row
  });
  parser.resume();
  let endsWithNewline = false;
  for await (const chunk of createReadStream(file)) {
    endsWithNewline = chunk.at(-1) === NEWLINE;
    if (failure === undefined) await new Promise<void>((resolve) => parser.write(chunk, () => resolve()));
  }
  if (failure === undefined) await new Promise<void>((resolve) => parser.end(() => resolve()));
  return written;
}

/** A file of less than one row can be begun anew if it is the beginning of one. */
function emptyOr(file: string, text: string, expected: string): Written {
  if (expected.startsWith(text) || text.startsWith(expected)) return NOTHING;
  throw foreign(file);
}

function foreign(file: string): ServiceError {
  const message = `--resume goes on with an output of decision batch of the same input and questions; ${file} is none.`;
  return new ServiceError("INVALID_OPTION", message);
}

function otherQuestions(file: string): ServiceError {
  return new ServiceError("INVALID_OPTION", `--resume: ${file} has answers to other questions.`);
}
