import { LONGEST_EXCERPT } from "./exchange.ts";

/** The environment variable that stands for the key in printed commands. A report must not contain the key itself. */
const VARIABLE = "DECISION_API_KEY";
/** Beginnings of the key from this length on are hidden too, since an excerpt may end within the key. Chosen. */
const LEAST_PART = 6;
/** Parts shorter than this are not hidden: so few characters occur in any text. */
const LEAST_SECRET = 3;

/** A part of a text: literal text, or a shell word that expands to the text. */
type Stretch = { readonly plain: string } | { readonly word: string };

/** Splits a text where it contains the key, also percent-encoded, or a near miss of it that `auth.wrong` sends. */
export function splitAtKey(text: string, apiKey: string | undefined): readonly Stretch[] {
  if (apiKey === undefined) return split(text, []);
  const near = [
    [apiKey.slice(0, -1), `"\${${VARIABLE}%?}"`],
    [apiKey.slice(1), `"\${${VARIABLE}#?}"`],
  ] as const;
  return split(text, [
    [apiKey, `"$${VARIABLE}"`],
    [encodeURIComponent(apiKey), `"$(node -p 'encodeURIComponent(process.env.${VARIABLE})')"`],
    ...near.filter(([secret]) => secret.length >= LEAST_SECRET),
  ]);
}

function split(
  text: string,
  secrets: readonly (readonly [text: string, word: string])[],
): readonly Stretch[] {
  const [first, ...others] = secrets;
  if (first === undefined) return text === "" ? [] : [{ plain: text }];
  const [secret, word] = first;
  return text
    .split(secret)
    .flatMap((part, index) => [...(index === 0 ? [] : [{ word }]), ...split(part, others)]);
}

/**
 * Hides the key in an excerpt of a server's answer. Also finds the key escaped as JSON, HTML or part of a URL, without
 * its first or last character, or truncated.
 */
export function hideKey(text: string, apiKey: string | undefined): string {
  if (apiKey === undefined) return text;
  const [all, part] = [`$${VARIABLE}`, `(part of $${VARIABLE})`];
  const least = Math.max(LEAST_SECRET, Math.min(LEAST_PART, apiKey.length - 1));
  const begun = text
    .replace(beginningOf(apiKey, apiKey.length), () => all)
    .replace(beginningOf(apiKey, least), () => part);
  return apiKey.length > LEAST_SECRET
    ? begun.replace(beginningOf(apiKey.slice(1), apiKey.length - 1), () => part)
    : begun;
}

/** Matches at least so many characters of the secret from its first one on, each in any spelling. */
function beginningOf(secret: string, least: number): RegExp {
  const all = [...secret.slice(0, LONGEST_EXCERPT)].map(spellingsOf);
  const more = all.slice(least).reduceRight((after, one) => `(?:${one}${after})?`, "");
  return new RegExp(all.slice(0, least).join("") + more, "g");
}

const HTML_NAMES: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/** Matches a character as it is, and as escaped in URLs, HTML or JSON, even in JSON that was quoted three times. */
function spellingsOf(character: string): string {
  const code = character.charCodeAt(0);
  const hex = `(?:${code.toString(16)}|${code.toString(16).toUpperCase()})`;
  const name = HTML_NAMES[character] ?? "none";
  return `\\\\{0,7}(?:\\x${code.toString(16)}|%${hex}|u00${hex}|&#${code};|&#x${hex};|&${name};)`;
}
