import { invalidRequest, type ServiceError } from "../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.ts";

/** A row of the input. Unreadable rows count too and get a row with an error in the output. */
export interface Row {
  /** Number from 1. Blank lines and the header of a CSV file do not count. */
  readonly number: number;
  /** The member `id` of a JSON row. */
  readonly id?: JsonValue | undefined;
  /** The cells of a CSV row, as many as the header has. */
  readonly cells?: readonly string[];
  /** The state, or the error that prevents it. */
  readonly state: JsonValue | ServiceError;
  /** Bytes of the input up to the end of this row. */
  readonly endByte: number;
}

/** Where the state of a row is: in the member or column `field`, or the whole row. */
export type StatePlace = { readonly field: string } | "row";

/** Maximum size of a row in bytes. Chosen: twice the largest request, since other members of a row are not sent. */
export const MAX_ROW_BYTES = 2 ** 22;

/** The state of a JSON row: the row itself if it is a string, or a member of an object. */
export function stateOf(row: JsonValue, place: StatePlace): JsonValue | ServiceError {
  if (place === "row" || typeof row === "string") return row;
  const state = isJsonObject(row) ? row.get(place.field) : undefined;
  if (state !== undefined) return state;
  return rowFault(`Expected a text, or an object with the member ${JSON.stringify(place.field)}.`, "missing");
}

export function idOf(row: JsonValue): JsonValue | undefined {
  return isJsonObject(row) ? (row as JsonObject).get("id") : undefined;
}

/** An error for an invalid row, in the form of errors for invalid requests. */
export function rowFault(
  msg: string,
  type: "missing" | "invalid_json" | "too_many" | "wrong_type",
): ServiceError {
  return invalidRequest([{ loc: ["row"], msg, type }]);
}
