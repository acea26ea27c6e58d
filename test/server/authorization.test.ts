import assert from "node:assert/strict";
import crypto from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { KeyRing } from "../../src/keys/key-ring.ts";
import { createKeyCheck } from "../../src/server/routes/head-checks.ts";

const KEY = "a key with ümlauts";
const bearer = (key: string) => ({ rawHeaders: ["authorization", `Bearer ${key}`] });
/** As Node gives header bytes. */
const sent = (key: string) => bearer(Buffer.from(key, "utf8").toString("latin1"));
const REFUSED = { kind: "UNAUTHORIZED" };

describe("the check of the key", () => {
  const check = createKeyCheck(KEY);

  it("takes the key, its scheme in any case", () => {
    check(sent(KEY));
    check({ rawHeaders: ["Authorization", sent(KEY).rawHeaders[1]?.replace("Bearer", "bEARER") ?? ""] });
  });

  for (const { name, rawHeaders } of [
    { name: "an empty key", rawHeaders: ["authorization", "Bearer "] },
    { name: "another key of its length", ...sent(KEY.replace("key", "kez")) },
    { name: "its beginning", ...sent(KEY.slice(0, -1)) },
    { name: "more than it", ...sent(`${KEY}s`) },
    { name: "another scheme", rawHeaders: ["authorization", `Basic ${KEY}`] },
    { name: "the key twice", rawHeaders: [...sent(KEY).rawHeaders, ...sent(KEY).rawHeaders] },
  ]) {
    it(`refuses ${name}`, () => assert.throws(() => check({ rawHeaders }), REFUSED));
  }

  it("tells a missing key from a wrong one", () => {
    assert.throws(() => check({ rawHeaders: [] }), { kind: "KEY_MISSING" });
  });

  it("takes the key without its scheme only where that is allowed", () => {
    const bare = { rawHeaders: ["authorization", sent(KEY).rawHeaders[1]?.slice("Bearer ".length) ?? ""] };
    check(bare, true);
    check(sent(KEY), true);
    assert.throws(() => check(bare), REFUSED);
    assert.throws(() => check({ rawHeaders: ["authorization", ""] }, true), REFUSED);
  });
});

describe("whether the key is right is decided by a comparison in constant time", () => {
  let says: boolean;
  const compared: [Uint8Array, Uint8Array][] = [];
  beforeEach(() => {
    compared.length = 0;
    mock.method(crypto, "timingSafeEqual", (one: Uint8Array, other: Uint8Array) => {
      compared.push([one, other]);
      return says;
    });
    syncBuiltinESMExports();
  });
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });

  it("and by nothing else", () => {
    const check = createKeyCheck(KEY);
    says = true;
    check(bearer("wrong"));
    says = false;
    assert.throws(() => check(sent(KEY)), REFUSED);
    assert.equal(compared.length, 2);
  });

  it("with every key, also once one has matched", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "authorization-"));
    const file = path.join(folder, "keys");
    writeFileSync(file, `a sha256:${"a".repeat(64)}\nb sha256:${"b".repeat(64)}\n`);
    says = true;
    createKeyCheck(new KeyRing({ apiKey: KEY, file }))(bearer("wrong"));
    rmSync(folder, { recursive: true });
    assert.equal(compared.length, 3);
  });

  it("of digests, whose length says nothing of the key", () => {
    says = false;
    for (const key of ["k", "x".repeat(1000)]) assert.throws(() => createKeyCheck(key)(bearer("y")), REFUSED);
    assert.deepEqual(
      compared.flat().map(({ length }) => length),
      [32, 32, 32, 32],
    );
  });
});
