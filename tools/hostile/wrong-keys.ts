import { pick, type Random } from "./cases.ts";

const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: "\u0430",
  e: "\u0435",
  o: "\u043e",
  p: "\u0440",
  c: "\u0441",
  x: "\u0445",
  "1": "l",
  "0": "O",
  "-": "\u2010",
};
/**
 * White space that does not end a header value. Trailing spaces are not part of a value (RFC 9110, 5.5), so such a key
 * would be the right one.
 */
const WHITE = ["\t", "\u00a0", "\u2003", "\u200b", "\ufeff", " ", "\u000b", "\u000c"];

/**
 * Header lines that look like the right key but are wrong.
 *
 * @param key the right one: letters, digits and hyphens
 */
export function wrongKey(key: string, random: Random): readonly string[] {
  const bearer = (text: string) => [`Authorization: Bearer ${latin1(text)}`];
  const at = random.below(key.length);
  const ways: (() => readonly string[])[] = [
    () => bearer(key.slice(0, at)),
    () => bearer(key.slice(at + 1)),
    () => bearer(key + pick(random, [...key, ",", ";", "=", "%00", "%20", "\u00e9"])),
    () => bearer(pick(random, [...key, ",", "\u00e9", '"', "'"]) + key),
    () => bearer(key.slice(0, at) + flipped(key[at] ?? "", random) + key.slice(at + 1)),
    () => bearer(key.slice(0, at) + key.slice(at + 1)),
    () => bearer(key.slice(0, at) + (key[at] ?? "").repeat(2) + key.slice(at + 1)),
    () => bearer(differing(key, key.toUpperCase(), `${key}A`)),
    () => bearer(key.slice(0, at) + otherCase(key[at] ?? "") + key.slice(at + 1)),
    () =>
      bearer(
        [...key].map((letter, place) => (place >= at ? (LOOK_ALIKES[letter] ?? letter) : letter)).join("") +
          (hasLookAlike(key.slice(at)) ? "" : "x"),
      ),
    () => bearer([...key].map((letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)).join("")),
    () => bearer(key.slice(0, at + 1) + pick(random, WHITE) + (key.slice(at + 1) || "x")),
    () =>
      bearer(
        `${pick(
          random,
          WHITE.filter((white) => white !== " " && white !== "\t"),
        )}${key}`,
      ),
    () => bearer(`${[...key].reverse().join("")}r`),
    () => bearer(Buffer.from(key).toString(pick(random, ["base64", "hex", "base64url"]))),
    () => bearer([...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("")),
    () => bearer(`"${key}"`),
    () => bearer(`<${key}>`),
    () => bearer(""),
    () => bearer(`${key},${key}`),
    () => bearer(`${key}, Bearer ${key}`),
    () => [...bearer(key), ...bearer(pick(random, [key, "x", ""]))],
    () => [...bearer(pick(random, ["x", "", `${key}x`])), ...bearer(key)],
    () => [
      `Authorization: ${pick(random, ["Basic", "Digest", "Token", "Key", "ApiKey", "Negotiate", "Bearer:", "Bearer=", "BearerX", "Bear", "X Bearer"])} ${key}`,
    ],
    () => [
      `Authorization: Basic ${Buffer.from(`${pick(random, ["", "user", key])}:${key}`).toString("base64")}`,
    ],
    () => [
      `Authorization: ${pick(random, ["", key, `Bearer${key}`, `Bearer\t${key}`, `Bearer\u00a0${key}`])}`,
    ],
    () => [
      `${pick(random, ["X-API-Key", "Proxy-Authorization", "X-Authorization", "Authorization2", "WWW-Authenticate", "Cookie", "X-Forwarded-Authorization", "Auth"])}: Bearer ${key}`,
    ],
    () => [
      `Authorization: Bearer ${Array.from({ length: key.length }, () => String.fromCharCode(0x21 + random.below(0x5e))).join("")}x`,
    ],
  ];
  return pick(random, ways)();
}

const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");
const differing = (key: string, text: string, otherwise: string) => (text === key ? otherwise : text);
const hasLookAlike = (text: string) => [...text].some((letter) => letter in LOOK_ALIKES);

function flipped(letter: string, random: Random): string {
  const code = letter.charCodeAt(0) ^ (1 << random.below(7));
  const other = String.fromCharCode(code);
  return code < 0x21 || code === 0x7f ? "~" : other;
}

function otherCase(letter: string): string {
  const upper = letter.toUpperCase();
  const other = letter === upper ? letter.toLowerCase() : upper;
  return other === letter ? "~" : other;
}
