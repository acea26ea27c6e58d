import { ServiceError } from "../../errors.ts";
import { readSteps } from "../../json/read.ts";
import type { Steps } from "../../json/slices.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "../../json/value.ts";
import { numberText } from "./number-text.ts";
import { strip } from "./strip.ts";

/**
 * Renders a JSON value as text, in the form used in training. Objects become `key: value` fields, with a blank line
 * between top-level fields and nested ones on lines of their own, indented by two. Arrays become one `- item` line per
 * element. Null becomes nothing. The result is trimmed.
 *
 *     {"a": {"b": 1}, "c": [true, null]}   ->   a:
 *                                                 b: 1
 *
 *                                               c:
 *                                                 - true
 *                                                 -
 *
 * @returns undefined if the text has more than `maxRows` rows (fields and items). A row has at least one token, so such
 *          a text exceeds the token limit. Without this bound, 2 MiB of items 99 levels deep would become 200 MB of
 *          indentation.
 * @see test/vectors/rendering.json, which the result must match byte for byte
 */
export function renderText(value: JsonValue, maxRows: number): string | undefined {
  const text: Writing = { pieces: [], rowsLeft: maxRows };
  write(value, 0, text);
  return text.rowsLeft < 0 ? undefined : strip(text.pieces.join(""));
}

/**
 * The value of a state: itself, or the object or array that it contains as a string.
 *
 * The string must follow the rules of request bodies. Otherwise (duplicate names, NaN, more than 100 levels) it stays a
 * text, although training's `json.loads` would accept it.
 */
export function* stateValue(state: JsonValue): Steps<JsonValue> {
  if (typeof state !== "string" || !/^[ \t\n\r]*[[{]/.test(state)) return state;
  try {
    return yield* readSteps(state);
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "INVALID_REQUEST") return state;
    throw error;
  }
}

/** Pieces that are joined once at the end. Joining level by level would copy a long text up to 100 times. */
interface Writing {
  readonly pieces: string[];
  /** Negative when there are too many rows. */
  rowsLeft: number;
}

/** Recursive: a value is at most 100 levels deep. */
function write(value: JsonValue, indent: number, text: Writing): void {
  if (!isNested(value)) {
    text.pieces.push(scalarText(value));
    return;
  }
  const separator = isJsonObject(value) && indent === 0 ? "\n\n" : "\n";
  const pad = " ".repeat(indent);
  let before = pad;
  for (const [head, item] of isJsonObject(value) ? fields(value) : items(value)) {
    if (--text.rowsLeft < 0) return;
    text.pieces.push(before, head, isNested(item) ? "\n" : " ");
    write(item, indent + 2, text);
    before = separator + pad;
  }
}

/** Empty for null and for empty objects and arrays. */
function scalarText(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "true" : "false";
  return value instanceof JsonNumber ? numberText(value) : "";
}

function* fields(value: ReadonlyMap<string, JsonValue>): Generator<[string, JsonValue]> {
  for (const [name, member] of value) yield [`${name}:`, member];
}

function* items(value: readonly JsonValue[]): Generator<[string, JsonValue]> {
  for (const item of value) yield ["-", item];
}

function isNested(value: JsonValue): value is JsonObject | readonly JsonValue[] {
  if (isJsonObject(value)) return value.size > 0;
  return isJsonArray(value) && value.length > 0;
}
