import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { hitTable } from "../../tools/scaling/tables.ts";
import { packageRoot } from "../support/package-root.ts";

it("docs/scaling.md has the hit rates that the simulation prints", () => {
  const page = readFileSync(path.join(packageRoot, "docs/scaling.md"), "utf8");
  const [, hits] = /<!-- hits: begin -->(.*)<!-- hits: end -->/s.exec(page) ?? [];
  assert.equal(hits?.trim(), hitTable());
});
