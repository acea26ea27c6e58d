/** A wrong key. */
export const WRONG = "wrong-key-of-a-check";

/**
 * `Authorization` values that are nearly right. A server that compares only a part of the key, or not byte by byte,
 * accepts some.
 */
export function nearMisses(key: string): readonly string[] {
  const middle = key.length >> 1;
  const others = [
    key.toUpperCase(),
    key.toLowerCase(),
    swapCase(key),
    ...[0, middle, key.length - 1].flatMap((at) => [
      replaceAt(key, at, swapCase(key.charAt(at))),
      replaceAt(key, at, key.charAt(at) === "0" ? "1" : "0"),
    ]),
    key.slice(0, -1),
    key.slice(1),
    key.slice(0, middle),
    key.slice(middle),
    `x${key}`,
    `x${key}x`,
    `${key}${key}`,
    `${key},${WRONG}`,
    `${WRONG},${key}`,
    `${key} ${WRONG}`,
    `${WRONG} ${key}`,
    [...key].reverse().join(""),
    `${key.slice(1)}${key.charAt(0)}`,
    "x".repeat(key.length),
    `${key.slice(0, 8)}${"x".repeat(Math.max(1, key.length - 8))}`,
    Buffer.from(key).toString("base64"),
    Buffer.from(key).toString("hex"),
    `"${key}"`,
    ...["*", ".*", "%", "null", "undefined", "true", "[object Object]"],
  ].filter((other) => other !== key);
  return [
    ...others.map((other) => `Bearer ${other}`),
    ...["Basic", "Token", "ApiKey", "Digest", "X"].map((scheme) => `${scheme} ${key}`),
    ...[`user:${key}`, `${key}:`, `:${key}`, key].map((given) => `Basic ${btoa(given)}`),
    key,
    `Bearer${key}`,
    `Bearer:${key}`,
    `Bearer=${key}`,
    `Bearer Bearer ${key}`,
  ];
}

function swapCase(text: string): string {
  return [...text]
    .map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
    .join("");
}

function replaceAt(text: string, at: number, letter: string): string {
  return `${text.slice(0, at)}${letter}${text.slice(at + 1)}`;
}
