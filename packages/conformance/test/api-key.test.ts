import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hideKey } from "../src/client/api-key.ts";

const KEY = `it's\\a"k%41&y+#<1>`;
const html = (text: string) => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
const named = (text: string) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&apos;");

const HIDDEN = "$DECISION_API_KEY";
const PART = "(part of $DECISION_API_KEY)";

describe("what a server repeats of the key is hidden:", () => {
  for (const { name, given, want } of [
    { name: "as it is, twice", given: `${KEY}, ${KEY}`, want: `${HIDDEN}, ${HIDDEN}` },
    { name: "in JSON", given: JSON.stringify({ a: KEY }), want: `{"a":"${HIDDEN}"}` },
    {
      name: "in JSON that was quoted as JSON",
      given: JSON.stringify(JSON.stringify(`<${KEY}>`)),
      want: `"\\"<${HIDDEN}>\\""`,
    },
    { name: "in JSON of hexadecimal escapes", given: KEY.replaceAll("<", "\\u003C"), want: HIDDEN },
    { name: "in an address", given: `/x?k=${encodeURIComponent(KEY)}&b`, want: `/x?k=${HIDDEN}&b` },
    {
      name: "in an address of small letters",
      given: encodeURIComponent(KEY).replaceAll(/%../g, (hex) => hex.toLowerCase()),
      want: HIDDEN,
    },
    { name: "in HTML", given: `<b>${html(KEY)}</b>`, want: `<b>${HIDDEN}</b>` },
    { name: "in HTML with names", given: `<b>${named(KEY)}</b>`, want: `<b>${HIDDEN}</b>` },
    { name: "without its last character", given: `Bearer ${KEY.slice(0, -1)}.`, want: `Bearer ${PART}.` },
    { name: "without its first character", given: `Bearer ${KEY.slice(1)}.`, want: `Bearer ${PART}.` },
    { name: "cut off", given: `Bearer ${KEY.slice(0, 9)}... (700)`, want: `Bearer ${PART}... (700)` },
    {
      name: "cut off in JSON, within an escape",
      given: `"${JSON.stringify(KEY).slice(1, 10)}...`,
      want: `"${PART}...`,
    },
    { name: "a few of its characters, which tell little", given: KEY.slice(0, 5), want: KEY.slice(0, 5) },
    { name: "nothing of it", given: "401: Unauthorized", want: "401: Unauthorized" },
  ]) {
    it(name, () => assert.equal(hideKey(given, KEY), want));
  }

  it("of keys that repeat themselves", () => {
    assert.equal(hideKey("abababac", "ababac"), `ab${HIDDEN}`);
    assert.equal(hideKey("a\\\\\\\\b", "a\\\\b"), HIDDEN);
  });

  it("of short keys", () => {
    assert.equal(hideKey("x ab x a", "ab"), `x ${HIDDEN} x a`);
    assert.equal(hideKey("x abcd x abc", "abcd"), `x ${HIDDEN} x ${PART}`);
  });

  it("and without a key nothing is", () => assert.equal(hideKey("a", undefined), "a"));
});
