import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { describeFolder, type ImportFacts } from "../../src/models/inspect/package-import.ts";
import { writePackage } from "../../src/models/inspect/package-writing.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { GEMMA_DECISION_TEMPERATURE, type PublishedModel } from "../../src/models/store/catalogue.ts";
import { sha256 } from "../hub/hub-server.ts";

const FACTS: ImportFacts = { aliases: ["mine"], version: "v1", releaseDate: "2026-11-21" };
const GEMMA: Readonly<Record<string, string>> = {
  "config.json": '{"model_type": "gemma3_text"}',
  "joint_head.safetensors": "head",
  "model.safetensors": "weights",
  "tokenizer.json": "{}",
};
const ONNX: Readonly<Record<string, string>> = {
  "model.onnx": "graph",
  "model.onnx.data": "more of it",
  "tokenizer.json": "{}",
  "config.json": '{"bos_token_id": 5}',
};
const exported = (members: object = {}) =>
  JSON.stringify({
    format: "gemmadecision-onnx-v1",
    model_file: "model.onnx",
    pad_token_id: 1,
    max_sequence_length: 1000,
    max_state_tokens: 700,
    max_action_tokens: 200,
    files: Object.fromEntries(
      Object.entries(ONNX).map(([name, content]) => [name, sha256(Buffer.from(content))]),
    ),
    ...members,
  });

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), "import-"));
  folder = path.join(parent, "my model");
  await mkdir(folder);
});
afterEach(() => rm(parent, { recursive: true }));

async function put(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
}
const invalid = (message: RegExp) => ({ name: "ServiceError", kind: "INVALID_MODEL", message });

describe("a folder of a fine-tuned gemma3_text model", () => {
  it("becomes a package with every file that belongs to it", async () => {
    await put({
      ...GEMMA,
      "tokenizer_config.json": "{}",
      "README.md": "read me",
      "modeling.py": "import os",
    });
    const manifest = await describeFolder(folder, FACTS);
    assert.deepEqual(Object.keys(manifest.files), [...Object.keys(GEMMA), "tokenizer_config.json"].sort());
    assert.match(manifest.id, /^local\/my-model@[0-9a-f]{40}$/);
    assert.deepEqual(manifest.architecture, { type: "gemma3-text-joint" });
    assert.deepEqual(manifest.limits, { max_state_question_tokens: 2048, max_candidate_tokens: 768 });
    assert.deepEqual([manifest.temperature, manifest.shows_labels], [GEMMA_DECISION_TEMPERATURE, false]);
    await writePackage(folder, manifest, { mayReplace: false });
    assert.deepEqual((await openModelPackage(folder)).manifest, manifest);
    await writePackage(folder, manifest, { mayReplace: false });
  });

  it("takes what a person says of it, and its limits from joint_config.json", async () => {
    const joint = { format: "gemmadecision-full-joint-v4", max_state_tokens: 500, max_action_tokens: 60 };
    await put({ ...GEMMA, "joint_config.json": JSON.stringify(joint) });
    const facts = { ...FACTS, name: "acme/Triage", temperature: 3, maxCandidateTokens: 50, description: "d" };
    const manifest = await describeFolder(folder, facts);
    assert.match(manifest.id, /^acme\/Triage@/);
    assert.deepEqual(manifest.limits, { max_state_question_tokens: 500, max_candidate_tokens: 50 });
    assert.deepEqual([manifest.temperature, manifest.description, manifest.aliases], [3, "d", ["mine"]]);
  });

  it("is known for a published one by its digests", async () => {
    await put(GEMMA);
    const { origin: _, ...manifest } = await describeFolder(folder, FACTS);
    const origin = { repository: "acme/Known", revision: "c".repeat(40) };
    const known: PublishedModel["manifest"] = { ...manifest, id: `acme/Known@${origin.revision}`, origin };
    const found = await describeFolder(folder, FACTS, [
      { manifest: known, terms: undefined, maxFileBytes: 1 },
    ]);
    assert.deepEqual(found, known);
  });

  it("of links, as the hub's tools keep it, becomes a package with copies", async () => {
    const blobs = path.join(parent, "models--acme--Tiny/blobs");
    folder = path.join(parent, `models--acme--Tiny/snapshots/${"c".repeat(40)}`);
    await mkdir(blobs, { recursive: true });
    await mkdir(folder, { recursive: true });
    for (const [name, content] of Object.entries(GEMMA)) {
      await writeFile(path.join(blobs, sha256(Buffer.from(content))), content);
      await symlink(path.join("../../blobs", sha256(Buffer.from(content))), path.join(folder, name));
    }
    const manifest = await describeFolder(folder, FACTS);
    const to = path.join(parent, "package");
    await writePackage(folder, manifest, { to, mayReplace: false });
    assert.deepEqual((await readdir(to)).sort(), [...Object.keys(GEMMA), "manifest.json"].sort());
    await openModelPackage(to);
  });

  const cases: readonly (readonly [string, Record<string, string | Buffer>, RegExp])[] = [
    [
      "with a config in another encoding",
      { "config.json": Buffer.from('{"model_type": "caf\u00e9"}', "latin1") },
      /config\.json in .* has bytes that are not UTF-8/,
    ],
    [
      "without a head",
      { "joint_head.safetensors": "" },
      /lacks joint_head\.safetensors\. A gemma3_text model/,
    ],
    [
      "of another kind",
      { "config.json": '{"model_type": "llama"}' },
      /model_type "llama", expected gemma3_text/,
    ],
    ["with a config that is none", { "config.json": "[" }, /config\.json in .* is not JSON/],
    ["of another recipe", { "joint_config.json": '{"format": "v9"}' }, /the wrong format/],
    ["in several files", { "model.safetensors.index.json": "{}" }, /save them as one model\.safetensors/],
    [
      "with limits that are none",
      { "joint_config.json": '{"max_state_tokens": 0}' },
      /max_state_question_tokens: it must be >= 1/,
    ],
  ];
  for (const [name, files, says] of cases) {
    it(`${name} is refused`, async () => {
      await put({ ...GEMMA, ...files });
      if (name === "without a head") await rm(path.join(folder, "joint_head.safetensors"));
      await assert.rejects(describeFolder(folder, FACTS), invalid(says));
    });
  }

  it("may have a byte order mark in its JSON", async () => {
    await put({ ...GEMMA, "config.json": `\uFEFF${GEMMA["config.json"]}` });
    assert.equal((await describeFolder(folder, FACTS)).architecture.type, "gemma3-text-joint");
  });

  it("keeps a manifest that is there, unless it may be replaced", async () => {
    await put({ ...GEMMA, "manifest.json": "{}" });
    const manifest = await describeFolder(folder, FACTS);
    await assert.rejects(
      writePackage(folder, manifest, { mayReplace: false }),
      invalid(/Use --force to replace it/),
    );
    await writePackage(folder, manifest, { mayReplace: true });
    assert.match(await readFile(path.join(folder, "manifest.json"), "utf8"), /typed-decisions-model-v1/);
  });
});

describe("a folder of an ONNX export", () => {
  it("becomes a package by its own manifest", async () => {
    await put({ ...ONNX, "onnx_manifest.json": exported(), "export-report.json": "{}" });
    const manifest = await describeFolder(folder, FACTS);
    assert.deepEqual(manifest.architecture, {
      type: "onnx-joint-pairs",
      max_tokens: 1000,
      pad_id: 1,
      bos_id: 5,
    });
    assert.deepEqual(manifest.limits, { max_state_question_tokens: 700, max_candidate_tokens: 200 });
    assert.deepEqual(Object.keys(manifest.files), [...Object.keys(ONNX), "onnx_manifest.json"].sort());
  });

  it("whose manifest says less has the bounds of the published export", async () => {
    await put({ ...ONNX, "onnx_manifest.json": '{"format": "gemmadecision-onnx-v1"}' });
    const manifest = await describeFolder(folder, FACTS);
    assert.deepEqual(manifest.architecture, {
      type: "onnx-joint-pairs",
      max_tokens: 3072,
      pad_id: 0,
      bos_id: 2,
    });
    assert.deepEqual(Object.keys(manifest.files), ["model.onnx", "onnx_manifest.json", "tokenizer.json"]);
  });

  const cases: readonly (readonly [string, object, RegExp])[] = [
    ["of another format", { format: "v2" }, /the wrong format, expected gemmadecision-onnx-v1/],
    ["with another graph", { model_file: "../model.onnx" }, /expected model\.onnx/],
    ["with a changed file", { files: { "model.onnx": "0".repeat(64) } }, /model\.onnx in .* does not match/],
    [
      "with a name that climbs out",
      { files: { "../x": "0".repeat(64) } },
      /onnx_manifest\.json in .* contains a file name with a folder or special characters: "\.\.\/x"\./,
    ],
  ];
  for (const [name, members, says] of cases) {
    it(`${name} is refused`, async () => {
      await put({ ...ONNX, "onnx_manifest.json": exported(members) });
      await assert.rejects(describeFolder(folder, FACTS), invalid(says));
    });
  }
});
