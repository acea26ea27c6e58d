import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { pull } from "../../src/cli/commands/model/pull.ts";
import { examinePackage } from "../../src/models/inspect/package-faults.ts";
import { readManifest } from "../../src/models/package/manifest.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { packageFolder } from "../../src/models/store/store.ts";
import { writeTinyPackage } from "./tiny-package.ts";

const REVISION = "0123456789abcdef0123456789abcdef01234567";

let parent: string;
let folder: string;
let manifest: Record<string, unknown>;
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), "manifest-"));
  folder = path.join(parent, "package");
  manifest = { ...(await writeTinyPackage(folder)) };
});
afterEach(() => rm(parent, { recursive: true }));

const invalid = (message: RegExp) => ({ name: "ServiceError", kind: "INVALID_MODEL", message });

describe("a manifest's id", () => {
  for (const name of [
    "a\\..\\..\\evil/x",
    "a/..\\..\\evil",
    "../x",
    "a/..",
    "a/.",
    ".a/b",
    "a/b.",
    "a--b/c",
    "a/b/c",
    "a/C:",
    "\\\\host\\share/x",
    "a/b\u0000",
    "a/b\n",
    "\u001b[2J/x",
    "a/\uff0e\uff0e",
    `${"a".repeat(300)}/b`,
  ]) {
    it(`${JSON.stringify(name).slice(0, 40)} is refused, and nothing is pulled`, async () => {
      const id = `${name}@${REVISION}`;
      const origin = { repository: "acme/x", revision: REVISION };
      const text = JSON.stringify({ ...manifest, id, origin });
      assert.throws(
        () => readManifest(text),
        invalid(/^manifest\.json has an invalid value at \/id: it must/),
      );
      assert.throws(
        () => packageFolder("/store", id),
        invalid(/is not a model id, expected <namespace>\/<name>@<revision>/),
      );
      const file = path.join(parent, "given.json");
      await writeFile(file, text);
      await assert.rejects(pull(file, { offlineBy: undefined, isJson: false }), invalid(/at \/id/));
      const repository = JSON.stringify({ ...manifest, origin: { ...origin, repository: name } });
      assert.throws(() => readManifest(repository), invalid(/at \/origin\/repository: it must/));
    });
  }
});

describe("a manifest's file name", () => {
  const digest = "0".repeat(64);
  for (const [name, says] of [
    ["../x", /a file name with a folder or special characters at \/files: "\.\.\/x"/],
    ["..\\x", /a file name with a folder or special characters/],
    ["/etc/passwd", /a file name with a folder or special characters/],
    ["C:\\x", /a file name with a folder or special characters/],
    ["a:stream", /a file name with a folder or special characters/],
    [".hidden", /a file name with a folder or special characters/],
    ["x\u0000", /a file name with a folder or special characters/],
    ["", /a file name with a folder or special characters/],
    ["a".repeat(256), /a file name with a folder or special characters/],
    ["nul", /lists nul in \/files, which is not a file name on Windows/],
    ["Com1.json", /lists Com1\.json in \/files, which is not a file name on Windows/],
    ["weights.", /lists weights\. in \/files, which is not a file name on Windows/],
    ["Model.SafeTensors", /lists model\.safetensors and Model\.SafeTensors in \/files/],
    ["manifest.json", /lists itself in \/files/],
  ] as const) {
    it(`${JSON.stringify(name).slice(0, 40)} is refused`, () => {
      const text = JSON.stringify({ ...manifest, files: { ...(manifest.files as object), [name]: digest } });
      assert.throws(() => readManifest(text), invalid(says));
    });
  }
});

describe("a manifest", () => {
  for (const member of ["aliases", "version", "description"]) {
    it(`with a control character in ${member} is refused: it would reach a terminal`, () => {
      const text = "\u001b]0;title\u0007";
      const value = member === "aliases" ? [text] : text;
      assert.throws(
        () => readManifest(JSON.stringify({ ...manifest, [member]: value })),
        invalid(new RegExp(`has an invalid value at /${member}(/0)?: it must match`)),
      );
    });
  }

  it("of 100 MB is refused by its size, unread", async () => {
    await truncate(path.join(folder, "manifest.json"), 100_000_000);
    const says = /manifest\.json .*has 100000000 bytes; the maximum is 1048576/;
    await assert.rejects(openModelPackage(folder), invalid(says));
    const [fault] = (await examinePackage(folder)).faults;
    assert.deepEqual([fault?.kind, says.test(fault?.message ?? "")], ["too-large", true]);
    const { message } = await pull(path.join(folder, "manifest.json"), {
      offlineBy: undefined,
      isJson: false,
    }).then(
      () => assert.fail("it was pulled"),
      (error: Error) => error,
    );
    assert.match(message, /it has 100000000 bytes, more than the 1048576 of a manifest/);
  });

  it("that is deep is refused by the member, or read where nobody looks at it", async () => {
    const nested = "[".repeat(200_000) + "]".repeat(200_000);
    const text = JSON.stringify(manifest);
    const file = path.join(folder, "manifest.json");
    await writeFile(file, text.replace(/^\{/, `{"format": ${nested},`).replace(/,"format":"[^"]*"/, ""));
    await assert.rejects(
      openModelPackage(folder),
      invalid(/manifest\.json has an invalid value at \/format/),
    );
    await writeFile(file, text.replace(/^\{/, `{"notes": ${nested},`));
    await openModelPackage(folder);
  });

  it("that is a pipe or a device is refused, unread", async () => {
    const fifo = path.join(parent, "fifo.json");
    execFileSync("mkfifo", [fifo]);
    await symlink("/dev/zero", path.join(parent, "zero.json"));
    for (const file of [fifo, path.join(parent, "zero.json")])
      await assert.rejects(pull(file, { offlineBy: undefined, isJson: false }), /it is not a regular file/);
    await rm(path.join(folder, "manifest.json"));
    execFileSync("mkfifo", [path.join(folder, "manifest.json")]);
    await assert.rejects(openModelPackage(folder), invalid(/not a regular file/));
  });
});
