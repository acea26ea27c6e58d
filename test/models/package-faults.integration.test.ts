import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { examinePackage } from "../../src/models/inspect/package-faults.ts";
import { openModelPackage, readPackageText, revisionOf } from "../../src/models/package/package.ts";
import { GEMMA3_PACKAGES, gemma3Folder } from "../support/gemma3-golden.ts";
import { safetensors, tinyTokenizer, tinyWeights, writeTinyPackage } from "./tiny-package.ts";

const sha256 = (content: object) => createHash("sha256").update(JSON.stringify(content)).digest("hex");
const WEIGHTS = "model.safetensors";

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), "faults-"));
  folder = path.join(parent, "package");
});
afterEach(() => rm(parent, { recursive: true }));

/** Kinds and messages of a folder's faults; opening it must fail, too. */
async function faultsOf(): Promise<readonly (readonly [string, string])[]> {
  const { faults } = await examinePackage(folder);
  return faults.map(({ kind, message }) => [kind, message] as const);
}

async function assertFaults(...wanted: readonly (readonly [string, RegExp])[]): Promise<void> {
  const found = await faultsOf();
  assert.deepEqual(
    found.map(([kind]) => kind),
    wanted.map(([kind]) => kind),
    JSON.stringify(found),
  );
  for (const [at, [, says]] of wanted.entries()) assert.match(found[at]?.[1] ?? "", says);
}

async function rewriteManifest(change: (manifest: Record<string, unknown>) => unknown): Promise<void> {
  const file = path.join(folder, "manifest.json");
  const manifest = JSON.parse(await readFile(file, "utf8"));
  await writeFile(file, JSON.stringify(change(manifest) ?? manifest));
}

describe("a package without a fault", () => {
  for (const name of [...GEMMA3_PACKAGES, "onnx-export"]) {
    it(`finds none in ${name}, a package of another architecture`, async () => {
      assert.deepEqual((await examinePackage(gemma3Folder(name))).faults, []);
    });
  }

  it("tells what a causal model's configuration may not hold, its digest being right", async () => {
    await cp(gemma3Folder("alternate"), folder, { recursive: true });
    const file = path.join(folder, "config.json");
    const config = { ...JSON.parse(await readFile(file, "utf8")), hidden_activation: "relu" };
    await writeFile(file, JSON.stringify(config));
    await rewriteManifest((manifest) => {
      const files = { ...(manifest.files as Record<string, string>), "config.json": sha256(config) };
      const [name] = String(manifest.id).split("@");
      return Object.assign(manifest, { files, id: `${name}@${revisionOf(files)}` });
    });
    await assertFaults(["graph", /^config\.json .*hidden_activation/]);
  });

  it("has none, and its unknown files are told", async () => {
    await writeTinyPackage(folder);
    await writeFile(path.join(folder, "README.md"), "read me");
    const found = await examinePackage(folder);
    assert.deepEqual([found.faults, found.unknown], [[], ["README.md"]]);
    await openModelPackage(folder);
  });

  it("has a tokenizer that can be opened and fits the model", async () => {
    const { model, ...rest } = tinyTokenizer();
    const withTokenizer = (file: object) =>
      writeTinyPackage(folder, { "tokenizer.json": Buffer.from(JSON.stringify(file)) });
    await withTokenizer({ model: {} });
    await assertFaults(["tokenizer", /^tokenizer\.json has a model of the kind none, expected/]);
    await withTokenizer({ ...rest, model: { ...model, vocab: { ...model.vocab, z: 50 } } });
    await assertFaults(["tokenizer", /^tokenizer\.json has 51 tokens, but the model knows 50$/]);
  });

  it("may be mounted through links within its folder", async () => {
    await writeTinyPackage(folder);
    await rename(path.join(folder, WEIGHTS), path.join(folder, ".data"));
    await symlink(".data", path.join(folder, WEIGHTS));
    assert.deepEqual(await faultsOf(), []);
    await openModelPackage(folder);
  });
});

describe("a byte order mark", () => {
  it("before a manifest and other JSON is no fault, as it is none where they are read", async () => {
    const json = `\uFEFF${JSON.stringify(tinyTokenizer())}`;
    await writeTinyPackage(folder, { "tokenizer.json": Buffer.from(json) });
    const file = path.join(folder, "manifest.json");
    await writeFile(file, `\uFEFF${await readFile(file, "utf8")}`);
    assert.deepEqual(await faultsOf(), []);
    await openModelPackage(folder);
  });

  it("is dropped once", async () => {
    await writeTinyPackage(folder, { "tokenizer.json": Buffer.from("\uFEFF\uFEFF{}") });
    await assertFaults(["content", /^tokenizer\.json is not JSON$/]);
  });
});

describe("another encoding than UTF-8", () => {
  const LATIN1 = Buffer.from('{"name": "caf\u00e9"}', "latin1");

  it("is told of a file and of the manifest, instead of replacing letters in silence", async () => {
    await writeTinyPackage(folder, { "tokenizer.json": LATIN1 });
    await assertFaults(["content", /^tokenizer\.json has bytes that are not UTF-8 \(first in line 1\)/]);
    await writeFile(path.join(folder, "manifest.json"), Buffer.from("\uFEFF{}", "utf16le"));
    await assertFaults(["manifest", /^manifest\.json is UTF-16: save it as UTF-8/]);
    const refused = { kind: "INVALID_MODEL", message: /manifest\.json in .* is UTF-16/ };
    await assert.rejects(openModelPackage(folder), refused);
  });

  it("is refused where a file of the package is read as text", async () => {
    await writeTinyPackage(folder, { "tokenizer.json": LATIN1 });
    const opened = await openModelPackage(folder);
    const refused = { kind: "INVALID_MODEL", message: /tokenizer\.json .* not UTF-8/ };
    await assert.rejects(readPackageText(opened, "tokenizer.json"), refused);
  });
});

describe("a file of a package", () => {
  const cases: {
    name: string;
    change: () => Promise<unknown>;
    wanted: readonly (readonly [string, RegExp])[];
  }[] = [
    {
      name: "that is missing",
      change: () => rm(path.join(folder, WEIGHTS)),
      wanted: [["missing", /^model\.safetensors does not exist$/]],
    },
    {
      name: "that was tampered with",
      change: () => writeFile(path.join(folder, "tokenizer.json"), '{"model": 1}'),
      wanted: [
        ["digest", /^tokenizer\.json does not match the manifest: its SHA-256 is \w{64}, expected \w{64}$/],
      ],
    },
    {
      name: "that is cut off",
      change: () => truncate(path.join(folder, WEIGHTS), 5000),
      wanted: [["digest", /^model\.safetensors does not match/]],
    },
    {
      name: "that is larger than any may be",
      change: () => truncate(path.join(folder, "tokenizer.json"), 2 ** 28 + 1),
      wanted: [["too-large", /^tokenizer\.json has 268435457 bytes; the maximum is 268435456/]],
    },
    {
      name: "that is a link to another place",
      change: async () => {
        await rename(path.join(folder, WEIGHTS), path.join(parent, "elsewhere"));
        await symlink("../elsewhere", path.join(folder, WEIGHTS));
      },
      wanted: [["outside", /^model\.safetensors is a link out of the folder, to .*elsewhere$/]],
    },
    {
      name: "that is a pipe",
      change: async () => {
        await rm(path.join(folder, WEIGHTS));
        execFileSync("mkfifo", [path.join(folder, WEIGHTS)]);
      },
      wanted: [["not-a-file", /not a regular file/]],
    },
  ];
  for (const { name, change, wanted } of cases) {
    it(`${name} is told, and the package not opened`, async () => {
      await writeTinyPackage(folder);
      await change();
      await assertFaults(...wanted);
      const file = name.includes("tamper") || name.includes("larger") ? "tokenizer.json" : WEIGHTS;
      await assert.rejects(openModelPackage(folder), {
        kind: "INVALID_MODEL",
        message: new RegExp(`^${file}`),
      });
    });
  }

  it("is told beside all others", async () => {
    await writeTinyPackage(folder);
    await rm(path.join(folder, WEIGHTS));
    await writeFile(path.join(folder, "tokenizer.json"), "{");
    await rewriteManifest((manifest) => ({ ...manifest, id: `acme/Bud@${"0".repeat(40)}` }));
    await assertFaults(
      ["revision", /^manifest\.json has the wrong revision in \/id: id must end with @\w{40}, the digest of/],
      ["missing", /^model/],
      ["digest", /^tokenizer/],
      ["content", /^tokenizer\.json is not JSON/],
    );
  });
});

describe("weights whose digest is right", () => {
  const weights = tinyWeights();
  const [firstName = "", first] = Object.entries(weights.entries)[0] ?? [];
  assert.ok(first);

  const withNaN = () => {
    const data = Buffer.from(weights.data);
    data.writeUInt16LE(0x7e00, 2 * (data.length >> 2));
    return data;
  };
  const cases: { name: string; file: Buffer; wanted: readonly (readonly [string, RegExp])[] }[] = [
    {
      name: "with a number that is none",
      file: safetensors(weights.entries, withNaN()),
      wanted: [["graph", /^model\.safetensors has a number in \S+ that is not finite$/]],
    },
    {
      name: "with a tensor of another shape",
      file: safetensors(
        { ...weights.entries, [firstName]: { ...first, shape: [first.shape.reduce((a, b) => a * b, 1)] } },
        weights.data,
      ),
      wanted: [["graph", new RegExp(`^model\\.safetensors has ${firstName} in shape \\[\\d+\\], expected`)]],
    },
    {
      name: "without a tensor",
      file: safetensors(
        Object.fromEntries(Object.entries(weights.entries).slice(0, -1)),
        weights.data.subarray(0, Object.values(weights.entries).at(-1)?.data_offsets[0]),
      ),
      wanted: [["graph", /^model\.safetensors lacks the tensor/]],
    },
    {
      name: "with more bytes than tensors",
      file: Buffer.concat([safetensors(weights.entries, weights.data), Buffer.alloc(3)]),
      wanted: [["graph", /has 3 extra bytes at its end/]],
    },
  ];
  for (const { name, file, wanted } of cases) {
    it(`${name} are told`, async () => {
      await writeTinyPackage(folder, { [WEIGHTS]: file });
      await assertFaults(...wanted);
    });
  }
});

describe("a manifest", () => {
  const cases: readonly (readonly [string, (manifest: Record<string, unknown>) => unknown, RegExp[]])[] = [
    [
      "with several faults",
      ({ id: _, ...rest }) => ({ ...rest, temperature: 0, version: 3 }),
      [
        /lacks the member \/id$/m,
        /has an invalid value at \/version: it must be string$/m,
        /has an invalid value at \/temperature: it must be > 0/,
      ],
    ],
    [
      "without the files of its architecture",
      (manifest) => ({ ...manifest, architecture: { type: "gemma3-text-joint" } }),
      [
        /no digest of config\.json in \/files; .* gemma3-text-joint requires/,
        /no digest of joint_head\.safetensors/,
      ],
    ],
    ["that is a list", () => [], [/has an invalid value at its top level: it must be object/]],
  ];
  for (const [name, change, says] of cases) {
    it(`${name} tells each`, async () => {
      await writeTinyPackage(folder);
      await rewriteManifest(change);
      const found = await faultsOf();
      assert.ok(found.every(([kind]) => kind === "manifest"));
      const messages = found.map(([, message]) => message).join("\n");
      for (const each of says) assert.match(messages, each);
      assert.equal(found.length, says.length, messages);
      await assert.rejects(openModelPackage(folder), { kind: "INVALID_MODEL", message: /manifest\.json/ });
    });
  }

  it("is missing in a folder that is no package, or none at all", async () => {
    await assertFaults(["missing", /does not exist: .*package is not a folder/]);
    folder = parent;
    await assertFaults(["missing", /^manifest\.json does not exist$/]);
  });
});
