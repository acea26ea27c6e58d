/** Letters that look like others. */
const LOOK_ALIKES = {
  a: "\u0430",
  e: "\u0435",
  o: "\u043e",
  p: "\u0440",
  c: "\u0441",
  1: "l",
  0: "O",
  "-": "\u2010",
};
/** White space within a key. Spaces after a value do not belong to it (RFC 9110, 5.5): such a key would be the right one. */
const WHITE = ["\t", "\u00a0", "\u2003", "\u200b", "\ufeff", " ", "\u000b", "\u000c"];
const SCHEMES = "Basic Digest Token Key ApiKey Negotiate Bearer: Bearer= BearerX Bear".split(" ");
const OTHERS = "X-API-Key Proxy-Authorization X-Authorization Authorization2 Cookie Auth".split(" ");

/** Header lines that look like the right key but are wrong. @param key letters, digits and hyphens */
export function wrongKey(key, random) {
  const letters = [...key];
  const at = random.between(0, key.length - 1);
  const [before, letter, after] = [key.slice(0, at), letters[at], key.slice(at + 1)];
  const mapped = (change) => letters.map(change).join("");
  const bearer = (text) => `Authorization: Bearer ${Buffer.from(text).toString("latin1")}`;
  const wrong = [
    ...[
      "",
      before,
      after,
      `${before}${after}`,
      `${before}${letter}${letter}${after}`,
      `"${key}"`,
      `<${key}>`,
    ],
    ...[`${key},${key}`, `${key}, Bearer ${key}`, `${letters.toReversed().join("")}r`],
    key + random.pick([...letters, ",", ";", "=", "%00", "%20", "\u00e9"]),
    random.pick([...letters, ",", "\u00e9", '"', "'"]) + key,
    `${before}${letter === "~" ? "x" : "~"}${after}`,
    `${before}${String.fromCharCode(letter.charCodeAt(0) ^ 1)}${after}`,
    ...[key.toUpperCase(), key.toLowerCase()].filter((text) => text !== key),
    mapped((each) => LOOK_ALIKES[each] ?? each),
    mapped((each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0)), // full width
    mapped((each) => `%${each.charCodeAt(0).toString(16)}`),
    `${before}${letter}${random.pick(WHITE)}${after || "x"}`,
    `${random.pick(["\u00a0", "\u2003", "\u200b", "\ufeff", "\u000b"])}${key}`,
    Buffer.from(key).toString(random.pick(["base64", "hex", "base64url"])),
    `${mapped(() => String.fromCharCode(random.between(0x21, 0x7e)))}x`,
  ].map((text) => [bearer(text)]);
  return random.pick([
    ...wrong,
    [bearer(key), bearer(random.pick([key, "x", ""]))],
    [bearer(random.pick(["x", "", `${key}x`])), bearer(key)],
    [`Authorization: ${random.pick(SCHEMES)} ${key}`],
    [`Authorization: Basic ${Buffer.from(`user:${key}`).toString("base64")}`],
    [`Authorization: ${random.pick(["", key, `Bearer${key}`, `Bearer\t${key}`, `Bearer\u00a0${key}`])}`],
    [`${random.pick(OTHERS)}: Bearer ${key}`],
  ]);
}
