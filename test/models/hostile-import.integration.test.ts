import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { importFolder } from "../../src/cli/commands/model/import.ts";
import type { ImportFacts } from "../../src/models/inspect/package-import.ts";
import { writePackage } from "../../src/models/inspect/package-writing.ts";
import { sha256 } from "../hub/hub-server.ts";
import { gemma3Folder } from "../support/gemma3-golden.ts";

const FACTS: ImportFacts = { aliases: [], version: "v1", releaseDate: "2026-11-21" };
const SECRET = "-----BEGIN PRIVATE KEY-----";

let parent: string;
let folder: string;
let output: string;
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), "hostile-"));
  folder = path.join(parent, "given");
  output = path.join(parent, "output");
  await cp(gemma3Folder("alternate"), folder, { recursive: true });
  await rm(path.join(folder, "manifest.json"));
  await writeFile(path.join(parent, "id_rsa"), SECRET);
});
afterEach(() => rm(parent, { recursive: true }));

const put = (name: string, content: string) => writeFile(path.join(folder, name), content);
const replace = async (name: string, target: string) => {
  await rm(path.join(folder, name), { force: true });
  await symlink(target, path.join(folder, name));
};
/** Imports with copies. @returns what is said, with what of it ended the command */
async function imported(mayReplace = false): Promise<string> {
  try {
    const { isFaultless, text } = await importFolder(folder, FACTS, {
      to: output,
      mayReplace,
      isJson: false,
    });
    return isFaultless ? "imported" : text;
  } catch (error) {
    assert.ok(error instanceof Error && error.name === "ServiceError", String(error));
    return error.message;
  }
}

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const onnxManifest = (files: object, more: object = {}) =>
  JSON.stringify({ format: "gemmadecision-onnx-v1", files, ...more });

describe("an import with copies refuses by name, and leaves nothing behind:", () => {
  const cases: { name: string; change: () => Promise<unknown>; says: RegExp }[] = [
    {
      name: "a link out of the folder as a file that is needed",
      change: () => replace("tokenizer.json", "../id_rsa"),
      says: /^tokenizer\.json in \S+ is a link out of the folder, to \S+id_rsa\.$/,
    },
    {
      name: "a link over a link out of the folder",
      change: async () => {
        await symlink("../id_rsa", path.join(folder, "near"));
        await replace("joint_config.json", "near");
      },
      says: /^joint_config\.json in \S+ is a link out of the folder/,
    },
    {
      name: "a folder that is a link within a name",
      change: async () => {
        await symlink("..", path.join(folder, "up"));
        await put("onnx_manifest.json", onnxManifest({ "up/id_rsa": "0".repeat(64) }));
      },
      says: /contains a file name with a folder or special characters: "up\/id_rsa"/,
    },
    ...["../id_rsa", "..\\id_rsa", "/etc/passwd", "C:x", "..", "", "x\0y"].map((name) => ({
      name: `the file name ${JSON.stringify(name)}`,
      change: () => put("onnx_manifest.json", onnxManifest({ [name]: sha256(Buffer.from(SECRET)) })),
      says: /^onnx_manifest\.json in \S+ contains a file name with a folder or special characters: "/,
    })),
    {
      name: "a pipe",
      change: async () => {
        await rm(path.join(folder, "config.json"));
        execFileSync("mkfifo", [path.join(folder, "config.json")]);
      },
      says: /^config\.json in \S+ is not a regular file\.$/,
    },
    {
      name: "a device",
      change: () => replace("model.safetensors", "/dev/zero"),
      says: /^model\.safetensors in \S+ is a link out of the folder, to \/dev\/zero\.$/,
    },
    {
      name: "a description that is deep",
      change: () => put("onnx_manifest.json", `{"format": ${deep(200_000)}}`),
      says: /^onnx_manifest\.json in \S+ has the wrong format/,
    },
    {
      name: "two names that differ in case alone",
      change: async () => {
        await put(
          "onnx_manifest.json",
          onnxManifest({ "a.bin": sha256(Buffer.from("a")), "A.BIN": sha256(Buffer.from("b")) }),
        );
        for (const name of ["model.onnx", "a.bin"]) await put(name, "a");
        await put("A.BIN", "b");
      },
      says: /^the manifest of \S+ lists A\.BIN and a\.bin in \/files, which are the same file on case-insensitive file systems\.$/,
    },
    {
      name: "the manifest itself as one of its files",
      change: async () => {
        for (const name of ["model.onnx", "Manifest.json"]) await put(name, "a");
        await put("onnx_manifest.json", onnxManifest({ "Manifest.json": sha256(Buffer.from("a")) }));
      },
      says: /lists manifest\.json and Manifest\.json in/,
    },
  ];
  for (const { name, change, says } of cases) {
    it(name, async () => {
      await change();
      const before = await readdir(folder);
      assert.match(await imported(), says);
      assert.deepEqual((await readdir(parent)).sort(), ["given", "id_rsa"], "nothing was made");
      assert.deepEqual(await readdir(folder), before);
    });
  }
});

describe("an import with copies", () => {
  it("of a folder without a fault is made, and nothing else is left", async () => {
    await put("README.md", "read me");
    assert.equal(await imported(), "imported");
    const names = [
      "config.json",
      "joint_head.safetensors",
      "manifest.json",
      "model.safetensors",
      "tokenizer.json",
    ];
    assert.deepEqual((await readdir(output)).sort(), names);
  });

  it("writes through no link that is in the folder of its output", async () => {
    await mkdir(output);
    for (const name of ["config.json", "manifest.json.new"])
      await symlink("../id_rsa", path.join(output, name));
    assert.match(
      await imported(),
      /config\.json already exists and is a different file\. Use --force to replace it/,
    );
    assert.equal(await imported(true), "imported");
    assert.equal(await readFile(path.join(parent, "id_rsa"), "utf8"), SECRET);
  });

  it("replaces a file of its output that is no copy of its own only by --force", async () => {
    await mkdir(output);
    await writeFile(path.join(output, "config.json"), "mine");
    await cp(path.join(folder, "tokenizer.json"), path.join(output, "tokenizer.json"));
    assert.match(
      await imported(),
      /config\.json already exists and is a different file\. Use --force to replace it/,
    );
    assert.equal(await readFile(path.join(output, "config.json"), "utf8"), "mine");
    assert.deepEqual((await readdir(output)).sort(), ["config.json", "tokenizer.json"]);
    assert.equal(await imported(true), "imported");
    await writeFile(path.join(output, "config.json"), "broken");
    assert.equal(await imported(), "imported", "a package of its own is made whole again");
  });

  it("of a file that changes after its digest was taken writes nothing", async () => {
    await imported();
    const manifest = JSON.parse(await readFile(path.join(output, "manifest.json"), "utf8"));
    await rm(output, { recursive: true });
    await put("tokenizer.json", "{}");
    await assert.rejects(writePackage(folder, manifest, { to: output, mayReplace: false }), {
      kind: "INVALID_MODEL",
      message: /^tokenizer\.json in \S+ has changed while it was copied\.$/,
    });
    assert.deepEqual((await readdir(parent)).sort(), ["given", "id_rsa"]);
  });
});
