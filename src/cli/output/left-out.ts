import type { Reading } from "../../library/index.ts";

/** Characters without a shape of their own. Others, such as accents, belong to the letter before them. */
const SHAPELESS = /[\p{Cc}\p{Cf}]/gu;

/**
 * Control and format characters of a text that are in no token, as code points such as `U+200D`.
 *
 * @returns each once; none where the sources of tokens are not known
 */
export function leftOut({ text, tokens }: Reading): readonly string[] {
  const sources = tokens.flatMap(({ source }) => source ?? []);
  if (sources.length === 0) return [];
  const between: string[] = [];
  let at = 0;
  for (const source of sources) {
    const next = text.indexOf(source, at);
    const skipped = next < 0 ? "" : text.slice(at, next);
    // several tokens may stand for the same character
    if (next < 0 || skipped.replace(SHAPELESS, "").trim() !== "") continue;
    between.push(skipped);
    at = next + source.length;
  }
  const characters = [...between, text.slice(at)].join("").match(SHAPELESS) ?? [];
  const named = characters.filter((character) => !/\s/.test(character)).map(codePoint);
  return [...new Set(named)];
}

function codePoint(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${digits.padStart(4, "0")}`;
}
