/** The variable from which a reader's shell takes the key: a report must not hold it. */
const VARIABLE = "DECISION_API_KEY";
/** Parts of the key that a message must not hold either: a cut excerpt may end within it. Shorter ones tell little. */
const LEAST_PART = 6;
/** Fewer characters than this are found in any text, and are no secret. */
const LEAST_SECRET = 3;
/** Backslashes before a character, as in JSON that was quoted as JSON three times. */
const MOST_BACKSLASHES = 7;

/** A stretch of a text: as it stands, or as the shell word that gives it. */
export type Stretch = { readonly plain: string } | { readonly word: string };

/** What our requests may hold of the key: all of it, also in a query, and the near misses of `auth.wrong`. */
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

/** A text cut where it holds the key or nearly all of it; no plain stretch is empty. */
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
 * Hides the key in what is told of a server's answers, which may repeat it: escaped as JSON, as HTML or as part of an
 * address, without its first or last character, or cut off.
 */
export function hideKey(text: string, apiKey: string | undefined): string {
  if (apiKey === undefined) return text;
  const part = `(part of $${VARIABLE})`;
  const leastPart = Math.max(LEAST_SECRET, Math.min(LEAST_PART, apiKey.length - 1));
  const whole = replaceRuns(text, apiKey, apiKey.length, `$${VARIABLE}`);
  const begun = replaceRuns(whole, apiKey, leastPart, part);
  return apiKey.length > LEAST_SECRET ? replaceRuns(begun, apiKey.slice(1), apiKey.length - 1, part) : begun;
}

/** Replaces each run of at least so many of a secret's first characters, however they are spelled. */
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

/** How many characters stand there one after the other, and where the last of them ends. */
function runAt(text: string, at: number, spellings: readonly (readonly string[])[]) {
  // several, since a spelling may begin another: % and %25
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

/** A character as it is, and as addresses, JSON and HTML may have it. Backslashes before it are the caller's matter. */
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
