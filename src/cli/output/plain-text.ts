/**
 * What a terminal obeys instead of showing it: control characters, and those that change the direction of what follows. A file of a
 * model package may hold any of them.
 */
const OBEYED = /[\p{Control}\p{Bidi_Control}\u2028\u2029]/gu;

/** A text in which such characters are escaped as in JSON, but for tabs and line feeds. */
export function plainText(text: string): string {
  return text.replaceAll(OBEYED, (character) => (/[\t\n]/.test(character) ? character : escaped(character)));
}

/** The same on one line: for a value within a line of ours. */
export function plainLine(text: string): string {
  return text.replaceAll(OBEYED, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
