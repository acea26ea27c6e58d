import { type IssueType, invalidRequest, type Location } from "../errors.ts";
import { runSliced, type SliceOptions, type Steps } from "./slices.ts";
import { TokenError, Tokens } from "./tokens.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "./value.ts";

/** Maximum levels of objects and arrays, including the outermost. */
export const MAX_NESTING = 100;

/** Bodies up to this length skip the queue. Chosen: reading one takes at most about 5 ms (many small objects). */
const SHORT_BYTES = 65_536;
/** Chosen: about 0.5 to 2 ms of reading between two checks of the clock. */
const CHARACTERS_PER_STEP = 16_384;

// Shared: otherwise 2 MiB of `[{},{},...` would create 700,000 maps.
const EMPTY_OBJECT: JsonObject = new Map();
const EMPTY_ARRAY: readonly JsonValue[] = Object.freeze([]);

/**
 * Reads a request body as I-JSON (RFC 7493), but allows integers of any length and strings with noncharacters. Short
 * bodies are read at once, longer ones one after the other.
 *
 * @param bytes UTF-8 without byte order mark
 * @throws ServiceError INVALID_REQUEST with one issue: invalid_json, duplicate_member or nesting_too_deep; CANCELLED
 */
export async function readJson(
  bytes: Uint8Array,
  { isLenient, ...options }: ReadOptions = {},
): Promise<JsonValue> {
  return runSliced(bodySteps(bytes, isLenient), { ...options, isLong: bytes.length > SHORT_BYTES });
}

interface ReadOptions extends SliceOptions {
  /**
   * Reads null instead of what is nested too deeply, and the last of duplicate members: to find out what a refused body
   * was.
   */
  readonly isLenient?: boolean;
}

function* bodySteps(bytes: Uint8Array, isLenient: boolean | undefined): Steps<JsonValue> {
  return yield* readSteps(decode(bytes), isLenient);
}

function decode(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal("invalid_json", "Expected UTF-8, got other bytes.", ["body"]);
  }
  if (text.startsWith("\ufeff")) {
    throw refusal("invalid_json", "Expected UTF-8 without a byte order mark, got one at the beginning.", [
      "body",
    ]);
  }
  return text;
}

/** An open object or array. `name` is the member whose value is being read, if any. */
type Open = OpenArray | OpenObject;
interface OpenArray {
  readonly items: JsonValue[];
}
interface OpenObject {
  readonly members: Map<string, JsonValue>;
  name: string | undefined;
}

/**
 * Reads a text in steps.
 *
 * Not recursive: open objects and arrays are kept on a stack.
 * @param text without lone surrogates. Text decoded from UTF-8 has none
 * @param isLenient see `ReadOptions`
 * @throws ServiceError INVALID_REQUEST with one issue: invalid_json, duplicate_member or nesting_too_deep
 */
export function* readSteps(text: string, isLenient = false): Steps<JsonValue> {
  const tokens = new Tokens(text);
  const open: Open[] = [];
  try {
    for (let nextStep = 0; ; ) {
      if (tokens.position >= nextStep) {
        yield;
        nextStep = tokens.position + CHARACTERS_PER_STEP;
      }
      const value = readScalarOrOpen(tokens, open, isLenient);
      if (value === undefined) continue;
      const whole = closeWhatEnds(tokens, open, value, isLenient);
      if (whole !== undefined) return whole;
    }
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    const isEnd = error.position >= text.length;
    const place = isEnd
      ? `after ${text.length} characters`
      : `at character ${error.position + 1} of ${text.length}`;
    throw refusal("invalid_json", `${error.message}, ${place}.`, locate(open));
  }
}

/** A complete value; undefined after an opening bracket, if the first value comes next. */
function readScalarOrOpen(tokens: Tokens, open: Open[], isLenient: boolean): JsonValue | undefined {
  if (isLenient && open.length === MAX_NESTING && tokens.skipNested()) return null;
  if (tokens.take("{")) {
    if (!isLenient) checkDepth(open);
    if (tokens.take("}")) return EMPTY_OBJECT;
    const frame: OpenObject = { members: new Map(), name: undefined };
    open.push(frame);
    readName(tokens, frame, open, isLenient);
    return undefined;
  }
  if (tokens.take("[")) {
    if (!isLenient) checkDepth(open);
    if (tokens.take("]")) return EMPTY_ARRAY;
    open.push({ items: [] });
    return undefined;
  }
  const text = tokens.takeString();
  if (text !== undefined) return text;
  const start = tokens.position;
  const number = tokens.takeNumber();
  if (number !== undefined) return checkRange(number, start);
  if (tokens.takeWord("true")) return true;
  if (tokens.takeWord("false")) return false;
  if (tokens.takeWord("null")) return null;
  throw expected("a value", tokens);
}

/**
 * Adds a complete value to the innermost open object or array, and closes those that end after it.
 *
 * @returns the outermost value when the text ends, undefined when another value comes next
 */
function closeWhatEnds(
  tokens: Tokens,
  open: Open[],
  value: JsonValue,
  isLenient: boolean,
): JsonValue | undefined {
  let whole = value;
  for (;;) {
    const frame = open.at(-1);
    if (frame === undefined) {
      if (!tokens.isAtEnd()) throw expected("nothing more", tokens);
      return whole;
    }
    if ("items" in frame) {
      frame.items.push(whole);
      if (tokens.take(",")) return undefined;
      if (!tokens.take("]")) throw expected("`,` or `]`", tokens);
      whole = frame.items;
    } else {
      if (frame.name !== undefined) frame.members.set(frame.name, whole);
      frame.name = undefined;
      if (tokens.take(",")) {
        readName(tokens, frame, open, isLenient);
        return undefined;
      }
      if (!tokens.take("}")) throw expected("`,` or `}`", tokens);
      whole = frame.members;
    }
    open.pop();
  }
}

/** Reads `"name":` in the innermost open object. */
function readName(tokens: Tokens, frame: OpenObject, open: readonly Open[], isLenient: boolean): void {
  tokens.skipWhitespace();
  const name = tokens.takeString();
  if (name === undefined) throw expected("a member name", tokens);
  if (!isLenient && frame.members.has(name)) {
    const loc = [...locate(open), name];
    throw refusal("duplicate_member", "Expected each member once in its object, got this one again.", loc);
  }
  frame.name = name;
  if (!tokens.take(":")) throw expected("`:`", tokens);
}

function checkDepth(open: readonly Open[]): void {
  if (open.length < MAX_NESTING) return;
  const message = `Expected objects and arrays at most ${MAX_NESTING} levels deep, got more.`;
  throw refusal("nesting_too_deep", message, locate(open));
}

/** Integers may have any length. A number with a fraction or an exponent must fit float64. */
function checkRange(text: string, start: number): JsonNumber {
  if (/[.eE]/.test(text) && !Number.isFinite(Number(text))) {
    throw new TokenError("a number outside the float64 range", start);
  }
  return new JsonNumber(text);
}

function expected(what: string, tokens: Tokens): TokenError {
  const came = tokens.isAtEnd() ? "the end of the text" : "something else";
  return new TokenError(came, tokens.position, `valid JSON with ${what}`);
}

function locate(open: readonly Open[]): Location {
  const steps = open.map((frame) => ("items" in frame ? frame.items.length : frame.name));
  return ["body", ...steps.filter((step) => step !== undefined)];
}

function refusal(type: IssueType, msg: string, loc: Location) {
  return invalidRequest([{ loc, msg, type }]);
}
