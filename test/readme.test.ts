import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { ISSUE_TYPES } from "../src/errors.ts";
import { OPTION_TABLE } from "../src/options/table.ts";
import { packageRoot } from "./support/package-root.ts";

const readme = readFileSync(path.join(packageRoot, "README.md"), "utf8");

describe("the README", () => {
  for (const row of Object.values(OPTION_TABLE)) {
    it(`has a line for --${row.flag} with its variable and default`, () => {
      const initial = String(row.default) === "" ? "" : `\`${row.default}\``;
      assert.ok(readme.includes(`| \`--${row.flag}\` | \`${row.env}\` | ${initial}`.trimEnd()));
    });
  }

  it("explains every type of a 422", () => {
    for (const type of ISSUE_TYPES) assert.ok(readme.includes(`\`${type}\``), type);
  });

  it("names the model that is shipped", () => {
    const { id } = JSON.parse(readFileSync(path.join(packageRoot, "model/manifest.json"), "utf8"));
    assert.ok(readme.includes(id));
  });
});
