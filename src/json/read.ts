import { type IssueType, invalidRequest, type Location } from "../errors.ts";
import { runSliced, type SliceOptions, type Steps } from "./slices.ts";
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
export async function readJson(bytes: Uint8Array, options: SliceOptions = {}): Promise<JsonValue> {
  return runSliced(bodySteps(bytes), { ...options, isLong: bytes.length > SHORT_BYTES });
}

function* bodySteps(bytes: Uint8Array): Steps<JsonValue> {
  return yield* readSteps(decode(bytes));
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
 * @throws ServiceError INVALID_REQUEST with one issue: invalid_json, duplicate_member or nesting_too_deep
 */
export function* readSteps(text: string): Steps<JsonValue> {
  const tokens = new Tokens(text);
  const open: Open[] = [];
  try {
    for (let nextStep = 0; ; ) {
      if (tokens.position >= nextStep) {
        yield;
        nextStep = tokens.position + CHARACTERS_PER_STEP;
      }
      const value = readScalarOrOpen(tokens, open);
      if (value === undefined) continue;
      const whole = closeWhatEnds(tokens, open, value);
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
function readScalarOrOpen(tokens: Tokens, open: Open[]): JsonValue | undefined {
  if (tokens.take("{")) {
    checkDepth(open);
    if (tokens.take("}")) return EMPTY_OBJECT;
    const frame: OpenObject = { members: new Map(), name: undefined };
    open.push(frame);
    readName(tokens, frame, open);
    return undefined;
  }
  if (tokens.take("[")) {
    checkDepth(open);
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
function closeWhatEnds(tokens: Tokens, open: Open[], value: JsonValue): JsonValue | undefined {
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
        readName(tokens, frame, open);
        return undefined;
      }
      if (!tokens.take("}")) throw expected("`,` or `}`", tokens);
      whole = frame.members;
    }
    open.pop();
  }
}

/** Reads `"name":` in the innermost open object. */
function readName(tokens: Tokens, frame: OpenObject, open: readonly Open[]): void {
  tokens.skipWhitespace();
  const name = tokens.takeString();
  if (name === undefined) throw expected("a member name", tokens);
  if (frame.members.has(name)) {
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
  const got = tokens.isAtEnd() ? "the end of the text" : "something else";
  return new TokenError(got, tokens.position, `valid JSON with ${what}`);
}

function locate(open: readonly Open[]): Location {
  const steps = open.map((frame) => ("items" in frame ? frame.items.length : frame.name));
  return ["body", ...steps.filter((step) => step !== undefined)];
}

function refusal(type: IssueType, msg: string, loc: Location) {
  return invalidRequest([{ loc, msg, type }]);
}

class TokenError extends Error {
  /** Position in UTF-16 code units from the start of the text. */
  readonly position: number;

  /** @param got what was read @param wanted what JSON has there */
  constructor(got: string, position: number, wanted = "valid JSON") {
    super(`Expected ${wanted}, got ${got}`);
    this.position = position;
  }
}

const SPACE = 0x20;
/** Any character except the quote, the backslash and control characters. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const WHITESPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * A reading position in a JSON text.
 *
 * Why not jsonc-parser's scanner: it builds strings and white space character by character. 2 MiB of `\n` escapes
 * blocked the event loop for 80 to 180 ms, white space for 130 to 290 ms (measured, Node 20, 2 cores).
 */
class Tokens {
  readonly text: string;
  position = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Skips white space, then takes `character` if it comes next. */
  take(character: string): boolean {
    this.skipWhitespace();
    if (this.text[this.position] !== character) return false;
    this.position += 1;
    return true;
  }

  /** Takes `word` if it comes next. */
  takeWord(word: string): boolean {
    if (!this.text.startsWith(word, this.position)) return false;
    this.position += word.length;
    return true;
  }

  /** Takes a number if one comes next: its text. */
  takeNumber(): string | undefined {
    NUMBER.lastIndex = this.position;
    const text = NUMBER.exec(this.text)?.[0];
    if (text !== undefined) this.position += text.length;
    return text;
  }

  /** Takes a string if one comes next: its value. @throws TokenError */
  takeString(): string | undefined {
    const { text, position: start } = this;
    if (text[start] !== '"') return undefined;
    const run = endOfMatch(PLAIN, text, start + 1);
    let end = run;
    // the escaped character, which may be a quote, is no end
    while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    if (end >= text.length) throw new TokenError("a string without a closing quote", start);
    this.position = end + 1;
    if (end === run) return text.slice(start + 1, end);
    const value = readEscapes(text.slice(start, end + 1), start);
    if (LONE_SURROGATE.test(value)) throw new TokenError("half a surrogate pair in a string", start);
    return value;
  }

  isAtEnd(): boolean {
    this.skipWhitespace();
    return this.position >= this.text.length;
  }

  skipWhitespace(): void {
    if (this.text.charCodeAt(this.position) > SPACE) return;
    this.position = endOfMatch(WHITESPACE, this.text, this.position);
  }
}

/** Where a sticky expression that matches at `start` stops matching. */
function endOfMatch(expression: RegExp, text: string, start: number): number {
  expression.lastIndex = start;
  expression.test(text);
  return expression.lastIndex;
}

/** Decodes escapes with JSON.parse: 2 MiB take 3 to 8 ms. */
function readEscapes(quoted: string, start: number): string {
  try {
    const value: unknown = JSON.parse(quoted);
    return String(value);
  } catch {
    throw new TokenError("an escape that JSON does not know, or a control character, in a string", start);
  }
}
