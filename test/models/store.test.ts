import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { examineManifest } from "../../src/models/package/manifest.ts";
import { otherNames } from "../../src/models/package/package.ts";
import { PUBLISHED_MODELS, type PublishedModel } from "../../src/models/store/catalogue.ts";
import {
  findModel,
  knownModels,
  packageFolder,
  removePulled,
  type Shelves,
  storeFolder,
} from "../../src/models/store/store.ts";
import { openServedModel } from "../../src/served-model.ts";
import { embeddedModel } from "../support/package-root.ts";

const REVISION = "0123456789abcdef0123456789abcdef01234567";

describe("the catalogue", () => {
  for (const { manifest } of PUBLISHED_MODELS) {
    it(`has a manifest of ${manifest.id} that can be served`, () => {
      assert.deepEqual(examineManifest(JSON.stringify(manifest)).faults, []);
      assert.ok(manifest.id.endsWith(`@${manifest.origin.revision}`));
    });
  }

  it("knows GemmaDecision-270M by the names of its contract", () => {
    const [gemma] = PUBLISHED_MODELS;
    assert.ok(gemma);
    assert.deepEqual(otherNames(gemma.manifest), [
      "rajan2k/GemmaDecision-270M",
      "GemmaDecision-270M",
      "gemmadecision",
    ]);
    assert.equal(gemma.manifest.shows_labels, false);
  });

  it("gives a package without an alias its name in lower case as the short one", () => {
    const id = `acme/Triage-70M@${"0".repeat(40)}`;
    assert.deepEqual(otherNames({ id, aliases: [] }), ["acme/Triage-70M", "Triage-70M", "triage-70m"]);
    assert.deepEqual(otherNames({ id, aliases: ["triage"] }), ["acme/Triage-70M", "Triage-70M", "triage"]);
  });
});

describe("the store's folder", () => {
  for (const [given, wants] of [
    [undefined, "/home/me/.local/share/typed-decisions/models"],
    ["", "/home/me/.local/share/typed-decisions/models"],
    ["relative", "/home/me/.local/share/typed-decisions/models"],
    ["/data", "/data/typed-decisions/models"],
  ] as const) {
    it(`is ${wants} with XDG_DATA_HOME ${given}`, () => {
      assert.equal(storeFolder({ XDG_DATA_HOME: given }, "/home/me"), wants);
    });
  }
});

describe("a model's name", () => {
  let store: string;
  let shelves: Shelves;
  let published: PublishedModel;
  let folder: string;

  before(async () => {
    store = await mkdtemp(path.join(tmpdir(), "store-"));
    const { origin: _, ...embedded } = JSON.parse(
      await readFile(path.join(embeddedModel, "manifest.json"), "utf8"),
    );
    const manifest: PublishedModel["manifest"] = {
      ...embedded,
      id: `acme/Twin@${REVISION}`,
      aliases: ["twin"],
      origin: { repository: "acme/Twin", revision: REVISION },
    };
    published = { manifest, terms: undefined, maxFileBytes: 1 };
    shelves = { embedded: embeddedModel, store, published: [published] };
    folder = packageFolder(store, manifest.id);
  });
  after(() => rm(store, { recursive: true }));

  const put = async (manifest: unknown, where = folder) => {
    await cp(embeddedModel, where, { recursive: true });
    await writeFile(path.join(where, "manifest.json"), JSON.stringify(manifest));
  };

  it("stands for the embedded model, by any of its names", async () => {
    for (const name of ["", "twig", "Twig-32M", "typed-decisions/Twig-32M"])
      assert.equal((await openServedModel({ model: name }, shelves)).folder, embeddedModel);
  });

  it("of a published model that is not here leads to the command that fetches it", async () => {
    const says = /acme\/Twin@\w+ is not on this machine\. Download it with: decision model pull twin$/;
    for (const name of ["twin", "Twin", "acme/Twin", `acme/Twin@${REVISION}`]) {
      await assert.rejects(openServedModel({ model: name }, shelves), {
        kind: "INVALID_MODEL",
        message: says,
      });
    }
    assert.deepEqual(await readdir(store), [], "and fetches nothing");
  });

  it("that nobody knows is refused with those that are known", async () => {
    for (const name of ["nope", "../twig", "twin@1", "__proto__"]) {
      const says = { kind: "INVALID_OPTION", message: /unknown model ".*"; known models: twig, twin\./ };
      await assert.rejects(openServedModel({ model: name }, shelves), says);
    }
  });

  it("stands for a folder of the store once its manifest is there", async () => {
    await mkdir(folder, { recursive: true });
    await cp(path.join(embeddedModel, "tokenizer.json"), path.join(folder, "tokenizer.json"));
    await assert.rejects(openServedModel({ model: "twin" }, shelves), { message: /not on this machine/ });
    await put(published.manifest);
    const opened = await openServedModel({ model: "twin" }, shelves);
    assert.deepEqual([opened.folder, opened.manifest.id], [folder, published.manifest.id]);
    const sources = (await knownModels(shelves)).map(({ source }) => source);
    assert.deepEqual(sources, ["embedded", "pulled"]);
  });

  it("does not stand for other files under a changed manifest", async () => {
    const files = {
      "tokenizer.json": published.manifest.files["tokenizer.json"],
      "model.safetensors": published.manifest.files["model.safetensors"],
    };
    await put({ ...published.manifest, files });
    await assert.rejects(openServedModel({ model: "twin" }, shelves), {
      message: /has a digest for golden\.json that differs from the published one/,
    });
    await put(published.manifest);
  });

  it("stands for the pinned revision, and for an older one by its full id", async () => {
    const old = { ...published.manifest, id: `acme/Twin@${"b".repeat(40)}` };
    const oldFolder = packageFolder(store, old.id);
    await put({ ...old, origin: { ...old.origin, revision: "b".repeat(40) } }, oldFolder);
    assert.equal((await findModel("twin", shelves)).folder, folder);
    assert.equal((await openServedModel({ model: old.id }, shelves)).folder, oldFolder);
    await removePulled(store, old.id);
  });

  it("is not taken from a manifest that lies in another model's folder", async () => {
    const strange = path.join(store, "acme--Strange", REVISION);
    await put(published.manifest, strange);
    const known = await knownModels(shelves);
    assert.ok(known.every((model) => model.folder !== strange));
    await rm(path.dirname(strange), { recursive: true });
  });

  it("stands for nothing on disk any more once it was removed", async () => {
    assert.deepEqual(await removePulled(store, published.manifest.id), [folder]);
    assert.deepEqual(await removePulled(store, published.manifest.id), []);
    assert.deepEqual(await readdir(store), []);
  });
});
