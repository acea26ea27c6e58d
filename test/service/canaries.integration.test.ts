import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { assertNone, contentsOf, KEY, searchCanaries, TEXTS } from "./canaries.ts";

test("what a request, a key and a token say is nowhere but in that request's own answer, also with --log-level debug", () =>
  searchCanaries("debug"));

test("the search finds a canary in a file, a log and an answer", async () => {
  const home = await mkdtemp(path.join(tmpdir(), "canaries-"));
  await writeFile(path.join(home, "core"), `\u0000${Buffer.from(KEY).toString("base64")}\u0000`);
  const [[file, text] = ["", ""]] = await contentsOf(home);
  assert.throws(() => assertNone(file, text), /core has canary-key/);
  assert.throws(() => assertNone("stderr", `{"err":"${TEXTS.state}"}`), /stderr has canary-state/);
  await rm(home, { recursive: true });
});
