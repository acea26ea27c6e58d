import { noStateColumn } from "../../../batch/csv-rows.ts";
import type { Row, StatePlace } from "../../../batch/row.ts";
import { invalidOption, ServiceError } from "../../../errors.ts";
import type { LabelledRow } from "../../../evaluation/answer-rows.ts";
import type { JsonObject } from "../../../json/value.ts";
import { writeJson } from "../../../json/write.ts";
import { type Format, openSource } from "./batch.ts";

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
