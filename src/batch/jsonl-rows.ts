import { isUtf8 } from "node:buffer";
import { type Issue, invalidRequest, ServiceError } from "../errors.ts";
import { readJson } from "../json/read.ts";
import { idOf, MAX_ROW_BYTES, type Row, rowFault, type StatePlace, stateOf } from "./row.ts";

const NEWLINE = 0x0a;

/** A line without its newline; without text if it is too long. */
interface Line {
  readonly bytes: Buffer | undefined;
  readonly endByte: number;
}

/**
 * The rows of a JSON Lines file: one JSON value per line. Holds one line at a time.
 *
 * @param chunks without byte order mark
 */
export async function* jsonlRows(chunks: AsyncIterable<Uint8Array>, place: StatePlace): AsyncGenerator<Row> {
  let number = 0;
  let line = 0;
  for await (const { bytes, endByte } of linesOf(chunks)) {
    line += 1;
    if (bytes !== undefined && isBlank(bytes)) continue;
    number += 1;
    yield { number, endByte, ...(await readLine(bytes, line, place)) };
  }
}

async function readLine(
  bytes: Buffer | undefined,
  line: number,
  place: StatePlace,
): Promise<Pick<Row, "id" | "state">> {
  if (bytes === undefined)
    return { state: rowFault(`Expected a row of at most ${MAX_ROW_BYTES} bytes, got more.`, "too_many") };
  if (!isUtf8(bytes))
    return {
      state: rowFault(`Expected UTF-8, got other bytes in line ${line} of the file.`, "invalid_json"),
    };
  try {
    const row = await readJson(bytes);
    return { id: idOf(row), state: stateOf(row, place) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { state: invalidRequest(error.issues.map(ofRow)) };
  }
}

/** Replaces the "body" that the JSON reader puts in front of places. */
const ofRow = ({ loc, msg, type }: Issue): Issue => ({ loc: ["row", ...loc.slice(1)], msg, type });

const isBlank = (line: Buffer) => line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let length = 0;
  let isTooLong = false;
  let endByte = 0;
  const add = (part: Buffer) => {
    length += part.length;
    endByte += part.length;
    isTooLong ||= length > MAX_ROW_BYTES;
    if (isTooLong) parts = [];
    else parts.push(part);
  };
  const take = (): Line => {
    const whole = isTooLong ? undefined : Buffer.concat(parts);
    [parts, length, isTooLong] = [[], 0, false];
    return { bytes: whole, endByte };
  };
  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let begin = 0;
    for (let end = buffer.indexOf(NEWLINE); end >= 0; end = buffer.indexOf(NEWLINE, begin)) {
      add(buffer.subarray(begin, end));
      endByte += 1;
      yield take();
      begin = end + 1;
    }
    add(buffer.subarray(begin));
  }
  if (length > 0) yield take();
}
