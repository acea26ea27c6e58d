/**
 * Characters that a terminal interprets instead of showing: control characters and those that change the text
 * direction. Files of a model package may contain them.
 */
const OBEYED = /[\p{Control}\p{Bidi_Control}\u2028\u2029]/gu;

/** The text with such characters escaped as in JSON, except tabs and line feeds. */
export function plainText(text: string): string {
  return text.replaceAll(OBEYED, (character) => (/[\t\n]/.test(character) ? character : escaped(character)));
}

/** The text on one line, with tabs and line feeds escaped too. */
export function plainLine(text: string): string {
  return text.replaceAll(OBEYED, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
