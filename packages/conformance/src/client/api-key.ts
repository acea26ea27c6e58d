/** The environment variable that stands for the key in printed commands. A report must not contain the key itself. */
const VARIABLE = "DECISION_API_KEY";
/** Parts of the key from this length on are hidden too, since a truncated excerpt may end within the key. Chosen. */
const LEAST_PART = 6;
/** Keys shorter than this are not hidden: so few characters occur in any text. */
const LEAST_SECRET = 3;
/** The most backslashes before a character: JSON that was escaped as a JSON string three times. */
const MOST_BACKSLASHES = 7;

/** A part of a text: literal text, or a shell word that expands to the text. */
export type Stretch = { readonly plain: string } | { readonly word: string };

/**
 * The forms in which our requests contain the key: as it is, percent-encoded in a query, and the near misses of
 * `auth.wrong`.
 */
function secretWords(apiKey: string): readonly (readonly [text: string, word: string])[] {
  const encoded = encodeURIComponent(apiKey);
  const near = [
    [apiKey.slice(0, -1), `"\${${VARIABLE}%?}"`],
    [apiKey.slice(1), `"\${${VARIABLE}#?}"`],
  ] as const;
  return [
    ...(encoded === apiKey
      ? []
      : [[encoded, `"$(node -p 'encodeURIComponent(process.env.${VARIABLE})')"`] as const]),
    [apiKey, `"$${VARIABLE}"`],
    ...near.filter(([text]) => text.length >= LEAST_SECRET),
  ];
}

/** Splits a text where it contains the key or a near miss of it. No plain part is empty. */
export function splitAtKey(text: string, apiKey: string | undefined): readonly Stretch[] {
  return split(text, apiKey === undefined ? [] : secretWords(apiKey));
}

function split(text: string, secrets: ReturnType<typeof secretWords>): readonly Stretch[] {
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
  const part = `(part of $${VARIABLE})`;
  const leastPart = Math.max(LEAST_SECRET, Math.min(LEAST_PART, apiKey.length - 1));
  const whole = replaceRuns(text, apiKey, apiKey.length, `$${VARIABLE}`);
  const begun = replaceRuns(whole, apiKey, leastPart, part);
  return apiKey.length > LEAST_SECRET ? replaceRuns(begun, apiKey.slice(1), apiKey.length - 1, part) : begun;
}

/** Replaces each run of at least `least` leading characters of the secret, in any of their encodings. */
function replaceRuns(text: string, secret: string, least: number, replacement: string): string {
  const spellings = [...secret].map(spellingsOf);
  let replaced = "";
  for (let at = 0; at < text.length; ) {
    const { count, end } = runAt(text, at, spellings);
    replaced += count >= least ? replacement : text.charAt(at);
    at = count >= least ? end : at + 1;
  }
  return replaced;
}

/** How many consecutive characters of the secret match from `at`, and where the last of them ends. */
function runAt(text: string, at: number, spellings: readonly (readonly string[])[]) {
  // several positions, since one encoding may be a prefix of another: % and %25
  let ends: readonly number[] = [at];
  for (const [count, forms] of spellings.entries()) {
    const next = ends.flatMap((end) => endsAfter(text, end, forms));
    if (next.length === 0) return { count, end: Math.max(...ends) };
    ends = [...new Set(next)];
  }
  return { count: spellings.length, end: Math.max(...ends) };
}

function endsAfter(text: string, at: number, forms: readonly string[]): readonly number[] {
  const ends: number[] = [];
  for (let from = at; from <= at + MOST_BACKSLASHES; from += 1) {
    for (const form of forms) if (text.startsWith(form, from)) ends.push(from + form.length);
    if (text[from] !== "\\") break;
  }
  return ends;
}

const HTML_NAMES: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/** A character as it is, and as escaped in URLs, JSON and HTML. The caller handles backslashes in front of it. */
function spellingsOf(character: string): readonly string[] {
  const code = character.charCodeAt(0);
  const small = code.toString(16);
  const hexes = [small, small.toUpperCase()];
  const name = HTML_NAMES[character];
  return [
    character,
    `&#${code};`,
    ...hexes.flatMap((hex) => [`%${hex}`, `u00${hex}`, `&#x${hex};`]),
    ...(name === undefined ? [] : [`&${name};`]),
  ];
}
