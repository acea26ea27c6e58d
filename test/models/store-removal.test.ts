import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { packageFolder, removePulled } from "../../src/models/store/store.ts";

const ID = "acme/Tiny@0123456789abcdef0123456789abcdef01234567";

let store: string;
let folder: string;
beforeEach(async () => {
  store = await mkdtemp(path.join(tmpdir(), "removal-"));
  folder = packageFolder(store, ID);
});
afterEach(() => rm(store, { recursive: true }));

describe("the removal of a pulled model", () => {
  it("takes what a killed pull has left", async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "model.safetensors.partial"), "");
    assert.deepEqual(await removePulled(store, ID), [folder]);
    assert.deepEqual(await readdir(store), []);
  });

  it("leaves other revisions", async () => {
    const other = folder.replace(/4567$/, "0000");
    for (const each of [folder, other]) await mkdir(each, { recursive: true });
    await removePulled(store, ID);
    assert.deepEqual(await readdir(path.dirname(folder)), [path.basename(other)]);
  });

  it("of a model that was never pulled removes nothing", async () => {
    assert.deepEqual(await removePulled(store, ID), []);
  });
});
