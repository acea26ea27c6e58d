import { ServiceError } from "../errors.ts";
import { readSteps } from "../json/read.ts";
import { runSliced, type Steps } from "../json/slices.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonValue } from "../json/value.ts";
import { numberText } from "./number-text.ts";
import { strip } from "./strip.ts";

/**
 * Texts of a decision, as the models saw them in training: objects become `key: value` fields (a blank line
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
 * @see test/vectors/rendering.json, which these must match byte for byte
 */
export function renderText(value: JsonValue): string {
  return strip(write(value, 0, { left: Infinity }));
}

/**
 * The same, but undefined when the text would have more than `maxRows` rows (fields and items). A row costs the
 * model at least one token, so such a text is over the token limit; and 2 MiB of items 99 levels deep would become
 * 200 MB of indentation.
 */
export function renderWithin(value: JsonValue, maxRows: number): string | undefined {
  const rows = { left: maxRows };
  const text = write(value, 0, rows);
  return rows.left < 0 ? undefined : strip(text);
}

/** A state's text: like any other, except that a string which is itself a JSON object or array is rendered like one. */
export async function renderState(value: JsonValue): Promise<string> {
  return renderText(await runSliced(stateValue(value)));
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

/** Recursive: a value is at most 100 levels deep. `rows.left` falls below zero when the rows run out. */
function write(value: JsonValue, indent: number, rows: { left: number }): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "true" : "false";
  if (value instanceof JsonNumber) return numberText(value);
  const pad = " ".repeat(indent);
  const written: string[] = [];
  for (const [head, item] of isJsonObject(value) ? fields(value) : items(value)) {
    if (--rows.left < 0) break;
    const body = isNested(item) ? `\n${write(item, indent + 2, rows)}` : ` ${write(item, 0, rows)}`;
    written.push(pad + head + body);
  }
  return written.join(isJsonObject(value) && indent === 0 ? "\n\n" : "\n");
}

function* fields(value: ReadonlyMap<string, JsonValue>): Generator<[string, JsonValue]> {
  for (const [name, member] of value) yield [`${name}:`, member];
}

function* items(value: readonly JsonValue[]): Generator<[string, JsonValue]> {
  for (const item of value) yield ["-", item];
}

function isNested(value: JsonValue): boolean {
  if (isJsonObject(value)) return value.size > 0;
  return isJsonArray(value) && value.length > 0;
}
