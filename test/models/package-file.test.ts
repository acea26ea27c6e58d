import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { it } from "node:test";
import { makeFolder } from "../../src/models/package/package-file.ts";

it("a folder that many create concurrently, with its parents, is created", async () => {
  const parent = await mkdtemp(path.join(tmpdir(), "folders-"));
  try {
    for (let round = 0; round < 100; round++) {
      const folder = path.join(parent, `${round}`, "a", "b", "c");
      await Promise.all(Array.from({ length: 2 + (round % 7) }, () => makeFolder(folder)));
      assert.ok((await stat(folder)).isDirectory());
    }
  } finally {
    await rm(parent, { recursive: true });
  }
});
