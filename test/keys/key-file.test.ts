import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey, digestOf, parseKeyFile, writeKeyFile } from "../../src/keys/key-file.ts";

const DIGEST = digestOf("secret");
const line = (rest = "", name = "web", digest = DIGEST) => `${name} sha256:${digest}${rest}`;

describe("a file of keys", () => {
  it("gives names, digests and bounds, and leaves comments out", () => {
    const text = `# ours\n\n${line(" requests=60")}\r\n  ${line(" tokens=9 requests=1", "b", digestOf("b"))}  \n`;
    assert.deepEqual(parseKeyFile(text, "keys.txt"), [
      { name: "web", digest: DIGEST, requestsPerMinute: 60, tokensPerMinute: undefined },
      { name: "b", digest: digestOf("b"), requestsPerMinute: 1, tokensPerMinute: 9 },
    ]);
  });

  it("is read as it was written", () => {
    const entries = [
      { name: "a.b-c_d", digest: DIGEST, requestsPerMinute: 5, tokensPerMinute: 7 },
      { name: "x", digest: digestOf("x"), requestsPerMinute: undefined, tokensPerMinute: undefined },
    ];
    assert.deepEqual(parseKeyFile(writeKeyFile(entries), "keys.txt"), entries);
  });

  it("is refused when it is blank, as while another program writes it", () => {
    for (const text of ["", "\n"]) assert.throws(() => parseKeyFile(text, "keys.txt"), /keys\.txt is empty/);
    assert.deepEqual(parseKeyFile(writeKeyFile([]), "keys.txt"), []);
  });

  for (const [what, text] of [
    ["a key in clear", "web secret"],
    ["a short digest", "web sha256:abc"],
    ["a bad name", line("", "w/b")],
    ["a rate of nothing", line(" requests=0")],
    ["a rate twice", line(" requests=1 requests=2")],
    ["another word", line(" admin")],
  ] as const)
    it(`with ${what} is refused by its line, which is not repeated`, () => {
      assert.throws(
        () => parseKeyFile(`# c\n${text}\n`, "keys.txt"),
        (error: Error) => {
          assert.match(error.message, /^line 2 of keys\.txt is no key/);
          assert.ok(!error.message.includes("secret"));
          return true;
        },
      );
    });

  it("with a name or a key twice is refused", () => {
    const twice = [`${line()}\n${line("", "web", digestOf("x"))}`, `${line()}\n${line("", "b")}`];
    for (const text of twice)
      assert.throws(() => parseKeyFile(text, "keys.txt"), /line 2 of keys\.txt has a/);
  });
});

describe("a new key", () => {
  it("has 256 random bits", () => {
    assert.match(createKey(), /^dk_[A-Za-z0-9_-]{43}$/);
    assert.notEqual(createKey(), createKey());
  });
});
