import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "./support/package-root.ts";

/** Texts that people write, of a folder. */
function textFiles(folder: string): string[] {
  return readdirSync(path.join(packageRoot, folder), { recursive: true, encoding: "utf8" })
    .filter(
      (file) => /\.(tsx?|mjs|md|yaml|py|sh)$/.test(file) && !/(^|\/)(node_modules|out|\.[^/]+)\//.test(file),
    )
    .map((file) => path.join(folder, file));
}

describe("the repository", () => {
  it("names only files that exist, in comments and pages", () => {
    const folders =
      "src test bench packages handlers scripts docs openapi clients deploy playground training generated".split(
        " ",
      );
    const named = new RegExp(
      String.raw`(?<![\w./-])(?:${folders.join("|")})/[\w./-]*\w\.(?:tsx?|mjs|md|yaml|json|py|sh)\b`,
      "g",
    );
    // patterns, what training writes, and a file of the reader's own
    const isExample = (name: string) => /NAME|^training\/out\/|^generated\/schema\.ts$/.test(name);
    const pages = readdirSync(packageRoot).filter((name) => name.endsWith(".md"));
    const missing = [...pages, ...folders.flatMap(textFiles)].flatMap((file) =>
      [...new Set(readFileSync(path.join(packageRoot, file), "utf8").match(named))]
        .filter((name) => !isExample(name))
        .filter(
          (name) => ![".", path.dirname(file)].some((from) => existsSync(path.join(packageRoot, from, name))),
        )
        .map((name) => `${file}: ${name}`),
    );
    assert.deepEqual(missing, []);
  });

  it("copies the pages' assets without leaving anything among the temporary files", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "build-"));
    try {
      const build = readFileSync(path.join(packageRoot, "scripts/build.mjs"), "utf8");
      const args = /run\((.*copy-assets.*)\)/.exec(build)?.[1]?.match(/[^" ,]+/g) ?? assert.fail(build);
      const { status, stderr } = spawnSync(process.execPath, args, {
        cwd: packageRoot,
        encoding: "utf8",
        env: { ...process.env, TMPDIR: folder },
      });
      assert.equal(status, 0, stderr);
      assert.deepEqual(readdirSync(folder), []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("has an oclif manifest that is not stale", () => {
    const manifest = JSON.parse(readFileSync(path.join(packageRoot, "oclif.manifest.json"), "utf8"));
    const script = `
      import { Plugin } from "@oclif/core";
      const plugin = new Plugin({ root: ${JSON.stringify(packageRoot)}, ignoreManifest: true, errorOnManifestCreate: true });
      await plugin.load();
      console.log(JSON.stringify(plugin.manifest));`;
    const fresh = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: packageRoot,
      encoding: "utf8",
    });
    assert.deepEqual(manifest, JSON.parse(fresh));
  });

  it("ships the model that its manifest names", () => {
    const { files } = JSON.parse(readFileSync(path.join(packageRoot, "model/manifest.json"), "utf8"));
    for (const file of Object.keys(files))
      assert.ok(statSync(path.join(packageRoot, "model", file)).isFile());
  });
});
