import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { packageFolder } from "../../src/models/store/store.ts";
import { takeLock } from "../../src/models/store/store-lock.ts";
import { removePulled } from "../../src/models/store/store-removal.ts";

const ID = "acme/Tiny@0123456789abcdef0123456789abcdef01234567";
const pace = { beatMs: 5, staleMs: 50, pollMs: 1 };

let store: string;
let folder: string;
beforeEach(async () => {
  store = await mkdtemp(path.join(tmpdir(), "removal-"));
  folder = packageFolder(store, ID);
  await mkdir(path.dirname(folder));
});
afterEach(() => rm(store, { recursive: true }));

describe("the removal of a pulled model", () => {
  for (const { name, host, pid } of [
    { name: "on another machine", host: "elsewhere", pid: 1 },
    { name: "whose process number is another one's now", host: hostname(), pid: process.pid },
  ]) {
    it(`takes what a killed pull ${name} has left`, async () => {
      await mkdir(`${folder}.partial`);
      await writeFile(`${folder}.lock`, JSON.stringify({ id: "dead", host, pid }));
      const told: string[] = [];
      const gone = await removePulled(store, ID, { pace, onWait: (owner) => told.push(owner) });
      assert.deepEqual(gone, [`${folder}.partial`]);
      assert.deepEqual(told, [`process ${pid} on ${host}`]);
      assert.deepEqual(await readdir(store), [], "its lock is gone, too");
    });
  }

  it("is refused while a pull lives", async () => {
    await mkdir(`${folder}.partial`);
    const { signal } = new AbortController();
    const lock = await takeLock(`${folder}.lock`, { signal, pace });
    await assert.rejects(removePulled(store, ID, { pace: { ...pace, staleMs: 60_000 } }), {
      kind: "PULL_FAILED",
      message: /is being pulled/,
    });
    await lock?.release();
    assert.deepEqual(await removePulled(store, ID, { pace }), [`${folder}.partial`]);
  });

  it("takes a lock that was left alone", async () => {
    await writeFile(`${folder}.lock`, "");
    assert.deepEqual(await removePulled(store, ID, { pace }), []);
    assert.deepEqual(await readdir(store), []);
  });
});
