import assert from "node:assert/strict";
import fs, {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { addKey, changeKeyFile, revokeKey } from "../../src/keys/change-key-file.ts";
import { digestOf, writeKeyFile } from "../../src/keys/key-file.ts";
import { readKeyFile } from "../../src/keys/key-ring.ts";

const ENTRIES = ["a", "b"].map((name) => ({ name, digest: digestOf(name) }));
const QUICK = { tries: 2, pauseMs: 0 };
const namesIn = (file: string) => readKeyFile(file).map(({ name }) => name);

describe("a change of a file of keys", () => {
  let folder = "";
  let file = "";
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "change-keys-"));
    file = path.join(folder, "keys.txt");
    writeFileSync(file, writeKeyFile(ENTRIES));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("keeps the mode of the file", async () => {
    for (const mode of [0o640, 0o644, 0o600, 0o660]) {
      chmodSync(file, mode);
      const { key } = await addKey(file, { name: `m${mode}` });
      assert.match(key, /^dk_/);
      assert.equal(statSync(file).mode & 0o7777, mode);
    }
    assert.deepEqual(readdirSync(folder), ["keys.txt"]);
  });

  it("keeps the owner and the group of the file", { skip: process.getuid?.() !== 0 }, async () => {
    fs.chownSync(file, 12_345, 23_456);
    chmodSync(file, 0o640);
    await revokeKey(file, "a");
    const { uid, gid, mode } = statSync(file);
    assert.deepEqual([uid, gid, mode & 0o7777], [12_345, 23_456, 0o640]);
    assert.deepEqual(namesIn(file), ["b"]);
  });

  it("is not made where the owner cannot be kept", async () => {
    const before = readFileSync(file, "utf8");
    const denied = Object.assign(new Error("EPERM"), { code: "EPERM" });
    mock.method(fs, "fchmodSync", () => {
      throw denied;
    });
    syncBuiltinESMExports();
    try {
      await assert.rejects(
        revokeKey(file, "a"),
        /was not changed: this user cannot keep its owner and group/,
      );
    } finally {
      mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.equal(readFileSync(file, "utf8"), before);
    assert.deepEqual(readdirSync(folder), ["keys.txt"]);
  });

  it("follows symbolic links, which stay links", async () => {
    mkdirSync(path.join(folder, "links"));
    const link = path.join(folder, "links", "keys.txt");
    symlinkSync("../keys.txt", link);
    await revokeKey(link, "a");
    assert.deepEqual([lstatSync(link).isSymbolicLink(), namesIn(file)], [true, ["b"]]);
    rmSync(file);
    await assert.rejects(addKey(link, { name: "c" }), /a symbolic link to a file that does not exist/);
    assert.equal(lstatSync(link).isSymbolicLink(), true);
  });

  it("waits for others: of many at the same time, none is lost", async () => {
    const names = Array.from({ length: 8 }, (_, at) => `n${at}`);
    await Promise.all(names.map((name) => addKey(file, { name })));
    assert.deepEqual(namesIn(file).sort(), ["a", "b", ...names]);
  });

  it("is not made while another one is under way, and says how to end that", async () => {
    writeFileSync(`${file}.lock`, "");
    await assert.rejects(
      changeKeyFile(file, () => [], QUICK),
      /another command is changing it.*remove .*keys\.txt\.lock/,
    );
    assert.deepEqual([namesIn(file), existsSync(`${file}.lock`)], [["a", "b"], true]);
  });

  it("leaves a file that it cannot read, or that has no such key", async () => {
    await assert.rejects(revokeKey(file, "c"), { kind: "INVALID_OPTION" });
    writeFileSync(file, "broken");
    await assert.rejects(addKey(file, { name: "c" }), /line 1 of .* is no key/);
    assert.equal(readFileSync(file, "utf8"), "broken");
    assert.deepEqual(readdirSync(folder), ["keys.txt"]);
    await assert.rejects(revokeKey(path.join(folder, "none.txt"), "a"), /there is no such file/);
    await assert.rejects(addKey(path.join(folder, "none", "k"), { name: "c" }), /its folder does not exist/);
  });

  it("creates a file that only its owner can read", async () => {
    const created = path.join(folder, "new.txt");
    assert.equal((await addKey(created, { name: "c" })).isNewFile, true);
    assert.deepEqual([statSync(created).mode & 0o7777, namesIn(created)], [0o600, ["c"]]);
  });
});
