import { invalidRequest, type ServiceError } from "../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.ts";

/** A row of the input. Rows that cannot be read are rows too: each gets a row in the output. */
export interface Row {
  /** From 1. Blank lines and the header of a CSV file do not count. */
  readonly number: number;
  /** The member `id` of a JSON row. */
  readonly id?: JsonValue | undefined;
  /** The cells of a CSV row, as many as the header has. */
  readonly cells?: readonly string[];
  /** The state to ask about, or why there is none. */
  readonly state: JsonValue | ServiceError;
  /** Bytes of the input up to the end of this row. */
  readonly endByte: number;
}

/** Where the state of a row is: in a member or column of this name, or the whole row. */
export type StatePlace = { readonly field: string } | "row";

/** Longest row that is read. Chosen: twice the largest request, since other members of a row are not sent. */
export const MAX_ROW_BYTES = 2 ** 22;

/** The state of a JSON row: a text, or the named member of an object. */
export function stateOf(row: JsonValue, place: StatePlace): JsonValue | ServiceError {
  if (place === "row" || typeof row === "string") return row;
  const state = isJsonObject(row) ? row.get(place.field) : undefined;
  if (state !== undefined) return state;
  return rowFault(`Expected a text, or an object with the member ${JSON.stringify(place.field)}.`, "missing");
}

export function idOf(row: JsonValue): JsonValue | undefined {
  return isJsonObject(row) ? (row as JsonObject).get("id") : undefined;
}

/** A fault of a row, as the service reports faults of requests. */
export function rowFault(
  msg: string,
  type: "missing" | "invalid_json" | "too_many" | "wrong_type",
): ServiceError {
  return invalidRequest([{ loc: ["row"], msg, type }]);
}
