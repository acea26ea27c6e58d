import { ServiceError } from "../errors.ts";
import { readSteps } from "../json/read.ts";
import type { Steps } from "../json/slices.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "../json/value.ts";

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
  for (const [name, item] of value.entries()) {
    if (--text.rowsLeft < 0) return;
    text.pieces.push(before, isJsonObject(value) ? `${name}:` : "-", isNested(item) ? "\n" : " ");
    write(item, indent + 2, text);
    before = separator + pad;
  }
}

/** Empty for null and for empty objects and arrays. */
function scalarText(value: JsonValue): string {
  if (value instanceof JsonNumber) return numberText(value);
  return typeof value === "object" ? "" : String(value);
}

function isNested(value: JsonValue): value is JsonObject | readonly JsonValue[] {
  if (isJsonObject(value)) return value.size > 0;
  return isJsonArray(value) && value.length > 0;
}

/**
 * Formats a number as Python's `str` does: an integer with all digits, a number with a fraction or an exponent as the
 * shortest form that reads back (`repr`).
 *
 *     -0 -> 0        1E2 -> 100.0        1e16 -> 1e+16        0.00001 -> 1e-05        -0.0 -> -0.0
 *
 * @param number an integer of any length, or a float inside the float64 range
 * @see https://docs.python.org/3/library/functions.html#repr
 */
export function numberText(number: JsonNumber): string {
  const { text } = number;
  if (/[.eE]/.test(text)) return floatText(Number(text));
  return text === "-0" ? "0" : text;
}

/** JavaScript and Python write the same digits, but change to an exponent at different sizes. */
function floatText(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16))
    return value.toExponential().replace(/([+-])(\d)$/, (_, sign, digit) => `${sign}0${digit}`);
  const text = String(value);
  return text.includes(".") ? text : `${text}.0`;
}

/**
 * Removes white space from both ends like Python's `str.strip()`, which was applied to the training texts.
 *
 * JavaScript's `trim` differs: it keeps U+001C..U+001F and U+0085, and removes U+FEFF.
 * @see https://docs.python.org/3/library/stdtypes.html#str.isspace
 */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code >= 0x1c;
  if (code < 0x1680) return code === 0x85 || code === 0xa0;
  if (code < 0x2000) return code === 0x1680;
  return (
    code <= 0x200a ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** White space, control and format characters, marks without a letter, and characters that are blank by themselves. */
const BLANK = /^[\s\p{Z}\p{Cc}\p{Cf}\p{M}\u115f\u1160\u2800\u3164\uffa0]*$/u;

/** Whether a text shows nothing to a reader. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

/** Whether a cut before this index would divide a surrogate pair. */
export function splitsPair(text: string, index: number): boolean {
  const isLowSurrogate = (text.charCodeAt(index) & 0xfc00) === 0xdc00;
  const isHighSurrogate = (text.charCodeAt(index - 1) & 0xfc00) === 0xd800;
  return isLowSurrogate && isHighSurrogate;
}
