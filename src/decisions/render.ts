import { ServiceError } from "../errors.ts";
import { readSteps } from "../json/read.ts";
import type { Steps } from "../json/slices.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "../json/value.ts";
import { numberText } from "./number-text.ts";
import { strip } from "./strip.ts";

/**
 * The text of a JSON value, as the models saw it in training: objects become `key: value` fields (a blank line
 * between top-level fields, nested ones on lines of their own, indented by two), arrays one `- item` line an
 * element, null nothing. Trimmed.
 *
 *     {"a": {"b": 1}, "c": [true, null]}   ->   a:
 *                                                 b: 1
 *
 *                                               c:
 *                                                 - true
 *                                                 -
 *
 * @returns undefined when the text would have more than `maxRows` rows (fields and items). A row costs the model at
 *          least one token, so such a text is over the token limit; and 2 MiB of items 99 levels deep would become
 *          200 MB of indentation.
 * @see test/vectors/rendering.json, which these must match byte for byte
 */
export function renderText(value: JsonValue, maxRows: number): string | undefined {
  const text: Writing = { pieces: [], rowsLeft: maxRows };
  write(value, 0, text);
  return text.rowsLeft < 0 ? undefined : strip(text.pieces.join(""));
}

/**
 * What a state stands for: itself, or the object or array that it holds as a string.
 *
 * The string must be JSON by the rules of request bodies. Where training's `json.loads` is laxer (duplicate names,
 * NaN, more than 100 levels) the string stays the text that it is.
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

/** Pieces that are joined once: joined level by level, a long text would be copied 100 times. */
interface Writing {
  readonly pieces: string[];
  /** Falls below zero when the rows run out. */
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

/** The empty text for null and for objects and arrays that hold nothing. */
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
