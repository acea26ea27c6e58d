import type { TextReader } from "../request.ts";
import { splitsPair } from "../texts.ts";

/** UTF-16 code units that are read for each token that is wanted. Chosen: English has some 5 to a token. */
const UNITS_PER_TOKEN = 6;
/** No tokenizer makes more of a code unit: compatibility decomposition turns U+FDFA into 18 characters. */
const MOST_TOKENS_PER_UNIT = 18;
/** Share of a part, at its end, in which white space is looked for. Chosen: a part keeps three quarters of its room. */
const SEARCHED_END = 1 / 4;

/** Which tokens of a text are kept. */
export interface Cut {
  readonly tokens: number;
  /** Whether the tokens at the end are kept, not those at the beginning. */
  readonly keepsEnd: boolean;
}

/**
 * Splits a text into parts of at most `maxTokens` tokens, at white space where there is some near the end of a part.
 *
 * @returns at least one part; joined they are the text
 */
export async function partsOf(
  text: string,
  maxTokens: number,
  reader: TextReader,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (text.length * MOST_TOKENS_PER_UNIT <= maxTokens) return [text];
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    signal.throwIfAborted();
    const window = text.slice(start, windowEnd(text, start + maxTokens * UNITS_PER_TOKEN));
    const [tokens] = await reader.readTexts([window]);
    const fits = tokens === undefined || tokens.count <= maxTokens;
    const end = fits
      ? window.length
      : breakBefore(window, placeOf(window, wholeEnd(tokens.ends(), maxTokens)));
    parts.push(window.slice(0, end));
    start += end;
  }
  return parts.length > 0 ? parts : [text];
}

/** The first or last tokens of a text; the text itself if it has no more than that. */
export async function cutText(
  text: string,
  { tokens: wanted, keepsEnd }: Cut,
  reader: TextReader,
  signal: AbortSignal,
): Promise<string> {
  if (text.length * MOST_TOKENS_PER_UNIT <= wanted) return text;
  for (let units = wanted * UNITS_PER_TOKEN; ; units *= 2) {
    signal.throwIfAborted();
    const window = keepsEnd
      ? text.slice(windowEnd(text, text.length - units))
      : text.slice(0, windowEnd(text, units));
    const [tokens] = await reader.readTexts([window]);
    if (tokens !== undefined && tokens.count > wanted) {
      const ends = tokens.ends();
      return keepsEnd
        ? window.slice(placeOf(window, ends[tokens.count - wanted - 1] ?? 0))
        : window.slice(0, placeOf(window, wholeEnd(ends, wanted)));
    }
    if (window.length === text.length) return text;
  }
}

/**
 * The place behind the last white space before `place`, so that no word is cut; `place` itself where none is near.
 * Never within a character.
 */
function windowEnd(text: string, place: number): number {
  if (place >= text.length) return text.length;
  if (place <= 0) return 0;
  return breakBefore(text, splitsPair(text, place) ? place - 1 : place);
}

function breakBefore(text: string, place: number): number {
  const least = place - Math.floor(Math.min(place, 4_096) * SEARCHED_END);
  for (let at = place; at > least; at--) if (/\s/.test(text.charAt(at - 1))) return at;
  return Math.max(1, place);
}

/**
 * Where the last character ends that lies within the first `most` tokens of a longer text. If a character has more
 * tokens than that, its end.
 */
function wholeEnd(ends: readonly number[], most: number): number {
  let last = most - 1;
  while (last >= 0 && ends[last] === ends[last + 1]) last--;
  return ends[last] ?? ends[0] ?? 1;
}

/** The UTF-16 index of a place that is counted in code points. */
function placeOf(text: string, codePoints: number): number {
  let place = 0;
  for (let left = codePoints; left > 0 && place < text.length; left--) {
    place += splitsPair(text, place + 1) ? 2 : 1;
  }
  return place;
}
