import type { Row, StatePlace } from "../../../batch/row.ts";
import { invalidOption } from "../../../errors.ts";
import type { LabelledRow } from "../../../evaluation/answer-rows.ts";
import type { JsonObject } from "../../../json/value.ts";
import { writeJson } from "../../../json/write.ts";
import { type Format, openSource } from "./batch.ts";

/** The input of labelled rows. */
export interface LabelledInput {
  /** A file, or `-`. */
  readonly input: string;
  readonly inputFormat: Format;
  readonly place: StatePlace;
}

/** A request with the questions, to check them before the rows are read. */
export const probeOf = (questions: JsonObject) => writeJson({ state: "A state.", questions });

/** Reads all rows with their labels. @throws ServiceError INVALID_OPTION */
export async function readRows(options: LabelledInput, signal: AbortSignal): Promise<Row[]> {
  const { input, inputFormat, place } = options;
  // whole rows, because the labels are other members of the row
  const source = await openSource({ input, inputFormat, output: "-", place: "row" }, signal);
  if (place !== "row" && source.header?.includes(place.field) === false)
    throw invalidOption(
      `--input has no column ${JSON.stringify(place.field)} for the state; name it with --state-field.`,
    );
  const rows: Row[] = [];
  try {
    for await (const row of source.rows) rows.push(row);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  if (rows.length === 0) throw invalidOption("--input has no rows.");
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
