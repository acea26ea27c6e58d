import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { ERROR_KINDS, ISSUE_TYPES } from "../src/errors.ts";
import { OPTION_TABLE } from "../src/options/table.ts";
import { packageRoot } from "./support/package-root.ts";

const page = (name: string) => readFileSync(path.join(packageRoot, name), "utf8");

describe("docs/configuration.md", () => {
  const configuration = page("docs/configuration.md");
  for (const row of Object.values(OPTION_TABLE)) {
    it(`has the line of --${row.flag} as its help says it`, () => {
      const initial = String(row.default) === "" ? "" : ` \`${row.default}\``;
      const line = `| \`--${row.flag}\` | \`${row.env}\` |${initial} | ${row.description} |`;
      assert.ok(configuration.split("\n").includes(line), line);
    });
  }
});

describe("docs/errors.md", () => {
  it("has a row with cause and remedy for every code, and no other code", () => {
    const rows = page("docs/errors.md")
      .split("\n")
      .map((line) => line.split(" | ").map((cell) => cell.replaceAll(/^\| | \|$/g, "").trim()))
      .filter(([code = ""]) => /^`[A-Z_]+`$/.test(code));
    const codes = rows.map(([code = ""]) => code.slice(1, -1));
    assert.deepEqual(codes.toSorted(), [...ERROR_KINDS].toSorted());
    for (const row of rows)
      assert.ok(row.length >= 3 && row.every((cell) => cell.length > 2), row.join(" | "));
  });

  it("explains every type of a 422", () => {
    const errors = page("docs/errors.md");
    for (const type of ISSUE_TYPES) assert.ok(errors.includes(`\`${type}\``), type);
  });
});

describe("the README", () => {
  it("names the model that is shipped", () => {
    const { id } = JSON.parse(page("model/manifest.json"));
    assert.ok(page("README.md").includes(id));
  });

  it("has at most 150 lines", () => {
    assert.ok(page("README.md").trimEnd().split("\n").length <= 150);
  });
});

/** The Markdown files of a folder. */
const pagesIn = (folder: string) =>
  readdirSync(path.join(packageRoot, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => path.posix.join(folder, name));

/** Every page for readers. */
const PAGES = [
  ...[".", "docs", "docs/decisions"].flatMap(pagesIn),
  "clients/README.md",
  "deploy/ray/README.md",
  "packages/conformance/README.md",
  "model/README.md",
  "training/README.md",
  "training/decks/FORMAT.md",
];

describe("links between pages", () => {
  for (const name of PAGES) {
    it(`lead somewhere: ${name}`, () => {
      const text = page(name);
      for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        const [file = "", anchor] = target.split("#");
        const linked = file === "" ? name : path.join(path.dirname(name), file);
        const content = page(linked); // throws where there is no such file
        if (anchor !== undefined) assert.ok(anchorsOf(content).includes(anchor), `${name}: ${target}`);
      }
    });
  }
});

/** The anchors that a page's headings get, as GitHub and npm name them. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
