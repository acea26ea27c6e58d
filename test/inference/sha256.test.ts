import assert from "node:assert/strict";
import crypto, { createHash } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";

/** The `.ts` file when running from source, the `.js` file when compiled. */
const MODULE = new URL(`../../src/inference/nodes${import.meta.url.slice(-3)}`, import.meta.url).href;

test("a digest is the same with and without crypto.hash, which Node.js has from 20.12 on", async () => {
  const data = ["", "caf\u00e9", "\ud800", Buffer.from([0, 255, 128])];
  const expected = data.map((each) => createHash("sha256").update(each).digest("base64url"));
  for (const hash of [crypto.hash, undefined]) {
    Object.assign(crypto, { hash });
    syncBuiltinESMExports();
    const { sha256 } = await import(`${MODULE}?${typeof hash}`);
    assert.deepEqual(data.map(sha256), expected);
  }
});
