import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Ajv } from "ajv";
import { buildGraph } from "../../src/models/architectures/bert-token-tree/graph.ts";
import { readManifest } from "../../src/models/package/manifest.ts";
import { manifestSchema } from "../../src/models/package/manifest-schema.ts";
import { modelFacts, openModelPackage, revisionOf } from "../../src/models/package/package.ts";
import { embeddedModel } from "../support/package-root.ts";

const invalid = (message: RegExp) => ({ name: "ServiceError", kind: "INVALID_MODEL", message });

describe("a model package", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "model-package-"));
    await cp(embeddedModel, folder, { recursive: true });
  });
  after(() => rm(folder, { recursive: true }));

  it("is accepted when its files are those of its manifest", async () => {
    const { manifest } = await openModelPackage(folder);
    assert.ok(manifest.id.endsWith(revisionOf(manifest.files)));
  });

  it("goes by its id, by that without revision, by its bare name, its short alias and the operator's aliases", async () => {
    const facts = modelFacts(await openModelPackage(folder), ["triage", "twig"]);
    const [withoutRevision = ""] = facts.id.split("@");
    const bareName = withoutRevision.split("/")[1];
    assert.deepEqual(facts.aliases, [withoutRevision, bareName, "twig", "triage"]);
    assert.match(facts.revision, /^[0-9a-f]{40}$/);
  });

  it("is refused when a file was changed, by the file's name", async () => {
    const file = path.join(folder, "tokenizer.json");
    const original = await readFile(file);
    await writeFile(file, `${original} `);
    await assert.rejects(openModelPackage(folder), invalid(/tokenizer\.json .*SHA-256/));
    await writeFile(file, original);
  });

  it("is refused when its weights were changed, also by the process that loads them", async () => {
    const opened = await openModelPackage(folder);
    const file = path.join(folder, "model.safetensors");
    const original = await readFile(file);
    const changed = Buffer.from(original);
    changed.writeUInt8((changed.at(-1) ?? 0) ^ 1, changed.length - 1);
    await writeFile(file, changed);
    await assert.rejects(openModelPackage(folder), invalid(/model\.safetensors/));
    await assert.rejects(buildGraph(opened, "fp32"), invalid(/model\.safetensors/));
    await writeFile(file, original);
  });

  it("is refused when a file is missing, by the file's name", async () => {
    await assert.rejects(openModelPackage(tmpdir()), invalid(/manifest\.json in .* cannot be read/));
  });

  it("is refused when its revision is not that of its files", async () => {
    const file = path.join(folder, "manifest.json");
    const original = await readFile(file, "utf8");
    await writeFile(file, original.replace(/@[0-9a-f]{40}/, `@${"0".repeat(40)}`));
    await assert.rejects(openModelPackage(folder), invalid(/id must end with @/));
    await writeFile(file, original);
  });
});

describe("a manifest", () => {
  it("is held to a valid JSON Schema", () => {
    const ajv = new Ajv({ strict: true });
    assert.ok(ajv.validateSchema(manifestSchema), ajv.errorsText());
  });

  const good = async () => JSON.parse(await readFile(path.join(embeddedModel, "manifest.json"), "utf8"));
  const cases: readonly (readonly [string, (manifest: Record<string, unknown>) => void, RegExp])[] = [
    ["without an id", (m) => delete m.id, /lacks the member \/id/],
    ["with an id without revision", (m) => (m.id = "a/b"), /\/id/],
    ["of another format", (m) => (m.format = "v2"), /\/format/],
    ["with temperature 0", (m) => (m.temperature = 0), /\/temperature/],
    ["with a file outside the folder", (m) => (m.files = { "../x": "0".repeat(64) }), /\/files/],
    ["without weights", (m) => (m.files = {}), /model\.safetensors/],
    [
      "with heads that do not divide the hidden size",
      (m) => (m.architecture = { ...(m.architecture as object), heads: 7 }),
      /heads/,
    ],
  ];
  for (const [name, change, says] of cases) {
    it(`${name} is refused`, async () => {
      const manifest = await good();
      change(manifest);
      assert.throws(() => readManifest(JSON.stringify(manifest)), invalid(says));
    });
  }

  for (const [given, pad] of [
    ["without a pad_id", {}],
    ["with a pad_id", { pad_id: 0 }],
  ] as const) {
    it(`of a graph of pairs is accepted ${given}, which nobody reads`, async () => {
      const manifest = await good();
      const architecture = { type: "onnx-joint-pairs", max_tokens: 9, bos_id: 2, ...pad };
      const files = { ...manifest.files, "model.onnx": "0".repeat(64) };
      const read = readManifest(JSON.stringify({ ...manifest, architecture, files }));
      assert.deepEqual(read.architecture, architecture);
    });
  }

  it("with a byte order mark is read", async () => {
    const manifest = await good();
    assert.deepEqual(readManifest(`\uFEFF${JSON.stringify(manifest)}`), manifest);
  });

  it("that is not JSON is refused", () => {
    assert.throws(() => readManifest("{"), invalid(/not JSON/));
  });
});
