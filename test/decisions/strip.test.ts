import assert from "node:assert/strict";
import { it } from "node:test";
import { strip } from "../../src/decisions/texts.ts";

/** Every character for which Python 3.11 says `chr(i).isspace()`. */
const PYTHON_SPACES = [
  0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003,
  0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
];

it("strips Python's white space and nothing else", () => {
  const stripped = Array.from({ length: 0x10000 }, (_, code) => code).filter((code) => {
    const space = String.fromCharCode(code);
    return strip(`${space}a${space}`) === "a";
  });
  assert.deepEqual(stripped, PYTHON_SPACES);
});

it("keeps white space inside, and leaves nothing of white space alone", () => {
  assert.deepEqual([strip(" a \n b "), strip(" \u2003\u001c"), strip("")], ["a \n b", "", ""]);
});
