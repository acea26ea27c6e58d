import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { pull } from "../../src/cli/actions/pull.ts";
import { examinePackage } from "../../src/models/inspect/package-faults.ts";
import { readManifest } from "../../src/models/package/manifest.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { packageFolder } from "../../src/models/store/store.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { safetensors, tinyWeights, writeTinyPackage } from "./tiny-package.ts";

const REVISION = "0123456789abcdef0123456789abcdef01234567";
const SEED = 20;
const CASES = 20_000;

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
      assert.throws(() => readManifest(text), invalid(/^manifest\.json has at \/id a value that must/));
      assert.throws(() => packageFolder("/store", id), invalid(/is no <namespace>\/<name>@<revision>/));
      const file = path.join(parent, "given.json");
      await writeFile(file, text);
      await assert.rejects(pull(file, { offlineBy: undefined, isJson: false }), invalid(/at \/id/));
      const repository = JSON.stringify({ ...manifest, origin: { ...origin, repository: name } });
      assert.throws(() => readManifest(repository), invalid(/at \/origin\/repository a value that must/));
    });
  }

  it("that is taken is a folder of its own in the store, on any system", () => {
    const { below } = seededRandom(SEED);
    const pieces = [
      "a",
      "B",
      "9",
      "_",
      "-",
      ".",
      "/",
      "\\",
      "..",
      "--",
      ":",
      "@",
      " ",
      "\u0000",
      "~",
      "é",
      "%2f",
    ];
    const folders = new Map<string, string>();
    for (let made = 0; made < CASES; made += 1) {
      const piece = () => pieces[below(below(2) === 0 ? 4 : pieces.length)];
      const word = () => Array.from({ length: 1 + below(4) }, piece).join("");
      const id = `${word()}/${word()}@${REVISION}`;
      try {
        readManifest(JSON.stringify({ ...manifest, id, origin: { repository: "a/b", revision: REVISION } }));
      } catch {
        continue;
      }
      const within = path.posix.relative("/store", packageFolder("/store", id));
      for (const system of [path.posix, path.win32]) {
        const parts = within.split(/[\\/]/);
        assert.deepEqual([parts.length, parts[1]], [2, REVISION], id);
        assert.equal(system.normalize(within), parts.join(system.sep), id);
      }
      assert.equal(folders.get(within) ?? id, id, "two models have one folder");
      folders.set(within, id);
    }
    assert.ok(folders.size > 50, `only ${folders.size} were taken`);
  });
});

describe("a manifest's file name", () => {
  const digest = "0".repeat(64);
  for (const [name, says] of [
    ["../x", /a file name with a folder or special characters: "\.\.\/x"/],
    ["..\\x", /a file name with a folder or special characters/],
    ["/etc/passwd", /a file name with a folder or special characters/],
    ["C:\\x", /a file name with a folder or special characters/],
    ["a:stream", /a file name with a folder or special characters/],
    [".hidden", /a file name with a folder or special characters/],
    ["x\u0000", /a file name with a folder or special characters/],
    ["", /a file name with a folder or special characters/],
    ["a".repeat(256), /a file name with a folder or special characters/],
    ["nul", /names in \/files nul, which is no file on Windows/],
    ["Com1.json", /names in \/files Com1\.json, which is no file on Windows/],
    ["weights.", /names in \/files weights\., which is no file on Windows/],
    ["Model.SafeTensors", /names in \/files both model\.safetensors and Model\.SafeTensors/],
    ["manifest.json", /names itself in \/files/],
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
        invalid(new RegExp(`has at /${member}(/0)? a value that must match`)),
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
    await assert.rejects(openModelPackage(folder), invalid(/manifest\.json has at \/format/));
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

describe("weights that were damaged in any way", () => {
  /** One of the ways, by the numbers. */
  function damaged(file: Buffer, below: (most: number) => number): Buffer {
    const copy = Buffer.from(file);
    switch (below(5)) {
      case 0:
        return copy.subarray(0, below(copy.length));
      case 1: // the header's length
        copy.writeBigUInt64LE((BigInt(below(2 ** 30)) << BigInt(below(34))) | BigInt(below(256)), 0);
        return copy;
      case 2: // a digit of a shape or of an offset
        for (let at = 8 + below(200); at < copy.length; at += 1)
          if ((copy[at] ?? 0) >= 48 && (copy[at] ?? 0) <= 57) {
            copy[at] = 48 + (((copy[at] ?? 0) - 47) % 10);
            break;
          }
        return copy;
      case 3:
        return Buffer.concat([copy, Buffer.alloc(1 + below(100))]);
      default: // a number that is none
        copy.writeUInt16LE(0x7c00 + below(0x400), copy.length - 2 * (1 + below(1000)));
        return copy;
    }
  }

  it("are refused by name, without a crash", async () => {
    const { below } = seededRandom(SEED);
    const { entries, data } = tinyWeights();
    const whole = safetensors(entries, data);
    for (let made = 0; made < 300; made += 1) {
      const bytes = damaged(whole, below);
      if (bytes.equals(whole)) continue;
      await rm(folder, { recursive: true });
      await mkdir(folder);
      await writeTinyPackage(folder, { "model.safetensors": bytes }); // their digest is right
      const { faults } = await examinePackage(folder);
      assert.ok(faults.length > 0, `case ${made} has no fault`);
      for (const { file, message } of faults) {
        assert.equal(file, "model.safetensors", message);
        assert.match(message, /^model\.safetensors /);
      }
    }
    assert.deepEqual((await readdir(parent)).sort(), ["package"]);
    assert.ok((await readFile(path.join(folder, "manifest.json"))).length > 0);
  });
});
