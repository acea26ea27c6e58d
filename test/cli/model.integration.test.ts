import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { HubServer } from "../hub/hub-server.ts";
import { tinyModel } from "../hub/tiny-model.ts";
import { writeTinyPackage } from "../models/tiny-package.ts";
import { Service } from "../service/service.ts";
import { embeddedModel } from "../support/package-root.ts";
import type { Ended } from "./decision.ts";
import { inProcess } from "./in-process.ts";

let home: string;
let env: Record<string, string>;
before(async () => {
  home = await mkdtemp(path.join(tmpdir(), "model-home-"));
  env = { HOME: home, XDG_DATA_HOME: path.join(home, "data"), XDG_CACHE_HOME: path.join(home, "cache") };
});
after(() => rm(home, { recursive: true }));

function model(args: readonly string[], more: Record<string, string> = {}): Promise<Ended> {
  return inProcess(args, { env: { ...env, ...more } });
}

describe("decision model", () => {
  it("lists what is known, for people and for programs", async () => {
    const { status, stdout } = await model(["model", "list"]);
    assert.equal(status, 0);
    assert.match(stdout, /^twig +part of this installation +38\.\d MB +typed-decisions\/Twig-32M@/m);
    assert.match(
      stdout,
      /^gemmadecision +not pulled; run: decision model pull gemmadecision +rajan2k\/GemmaDecision-270M@785d/m,
    );
    const { models } = JSON.parse((await model(["model", "list", "--json"])).stdout);
    assert.deepEqual(
      models.map(({ name, state, bytes }: { name: string; state: string; bytes: unknown }) => [
        name,
        state,
        typeof bytes,
      ]),
      [
        ["twig", "embedded", "number"],
        ["gemmadecision", "published", "object"],
      ],
    );
  });

  it("shows a model by any of its names, and a folder", async () => {
    for (const name of ["gemmadecision", "GemmaDecision-270M", "rajan2k/GemmaDecision-270M"]) {
      const { status, stdout } = await model(["model", "show", name]);
      assert.equal(status, 0);
      for (const said of [
        /gemma3-text-joint/,
        /2048 tokens of state/,
        /Gemma Terms/,
        /model\.safetensors +sha256 d7a3e291/,
      ])
        assert.match(stdout, said);
    }
    assert.match((await model(["model", "show", embeddedModel])).stdout, /6 layers of width 384/);
    const shown = JSON.parse((await model(["model", "show", "twig", "--json"])).stdout);
    assert.deepEqual(shown.limits, { max_state_question_tokens: 2048, max_candidate_tokens: 768 });
  });

  it("serves no model that is not here, and says how it is fetched", async () => {
    for (const args of [
      ["serve", "--model", "gemmadecision"],
      ["decide", "--state", "x", "--question", "y", "--model", "gemmadecision"],
      ["model", "verify", "gemmadecision"],
    ]) {
      const { status, stderr } = await model(args);
      assert.equal(status, 1);
      assert.match(stderr, /is not on this machine\. Download it with: decision model pull gemmadecision$/m);
    }
    await assert.rejects(readdir(path.join(home, "data")), "and nothing was made");
  });

  for (const [name, args, says] of [
    ["an unknown model", ["model", "pull", "nope"], /unknown model "nope"; known models: twig, gemma/],
    ["no model", ["model", "pull"], /model/],
    [
      "an empty name to verify",
      ["model", "verify", ""],
      /expected a model's name or folder, got an empty text\.$/m,
    ],
    ["an unknown model to serve", ["serve", "--model", "nope"], /unknown model "nope"/],
    ["a folder by its name", ["serve", "--model", "./model"], /To serve a folder, use --model-path/],
    [
      "a model by name and folder",
      ["serve", "--model", "twig", "--model-path", "x"],
      /--model and --model-path/,
    ],
    ["the removal of what is embedded", ["model", "remove", "twig"], /part of this installation/],
    ["a name that is none", ["model", "import", "x", "--name", "y"], /--name: expected/],
  ] as const) {
    it(`ends with 2 and one line for ${name}`, async () => {
      const { status, stdout, stderr } = await model(args);
      assert.equal(status, 2, stderr);
      assert.match(stderr, says);
      assert.equal(stdout, "");
      assert.ok(stderr.split("\n").length <= 5, stderr);
    });
  }

  for (const { args, more, name } of [
    { args: ["--offline"], more: {}, name: "--offline" },
    { args: [], more: { DECISION_OFFLINE: "1" }, name: "DECISION_OFFLINE" },
  ]) {
    it(`pulls nothing with ${name}`, async () => {
      const { status, stderr } = await model(["model", "pull", "gemmadecision", ...args], more);
      assert.equal(status, 1);
      assert.match(stderr, new RegExp(`${name} forbids`));
    });
  }

  it("verifies a folder, and tells every fault of it", async () => {
    const folder = path.join(home, "bud");
    await writeTinyPackage(folder);
    const good = await model(["model", "verify", folder]);
    assert.deepEqual([good.status, /can be served: 2 files/.test(good.stdout)], [0, true], good.stdout);
    await writeFile(path.join(folder, "tokenizer.json"), "{");
    await rm(path.join(folder, "model.safetensors"));
    const bad = await model(["model", "verify", folder]);
    assert.equal(bad.status, 1);
    assert.equal(bad.stdout.split("\n").filter((line) => line.startsWith("- ")).length, 3, bad.stdout);
    const { isFaultless, faults } = JSON.parse((await model(["model", "verify", folder, "--json"])).stdout);
    assert.equal(isFaultless, false);
    assert.deepEqual(
      faults.map(({ kind }: { kind: string }) => kind),
      ["missing", "digest", "content"],
    );
  });

  it("imports a folder, and says what of it cannot be served", async () => {
    const folder = path.join(home, "tuned");
    await writeTinyPackage(folder);
    await rm(path.join(folder, "manifest.json"));
    const { status, stderr } = await model(["model", "import", folder]);
    assert.equal(status, 1);
    assert.match(stderr, /lacks config\.json, joint_head\.safetensors\./);
  });
});

describe("decision model pull", () => {
  let hub: HubServer;
  let manifestFile: string;
  before(async () => {
    // as those of a published model: it can be served
    const { files: digests, architecture } = await writeTinyPackage(path.join(home, "published"));
    const files = new Map<string, Buffer>();
    for (const name of Object.keys(digests))
      files.set(name, await readFile(path.join(home, "published", name)));
    hub = await HubServer.start(files, ["model.safetensors"]);
    manifestFile = path.join(home, "tiny.json");
    const manifest = { ...tinyModel(files).manifest, architecture };
    await writeFile(manifestFile, JSON.stringify(manifest));
    env = { ...env, HF_ENDPOINT: hub.endpoint };
  });
  after(() => hub.stop());

  it("by a manifest fetches what it pins; piped, it shows no progress", async () => {
    const { status, stdout, stderr } = await model(["model", "pull", manifestFile]);
    assert.equal(status, 0, stderr);
    assert.match(
      stdout,
      /^acme\/Tiny@\w{40}: 2 files, 26\.\d kB \(2 fetched\), all checked against their pinned SHA-256$/m,
    );
    assert.match(stdout, /serve it: decision serve --model tiny$/m);
    assert.equal(stderr, "");
    const again = await model(["model", "pull", manifestFile, "--json"]);
    const { files } = JSON.parse(again.stdout);
    assert.ok(files.every(({ source }: { source: string }) => source === "present"));
    const { stdout: listed } = await model(["model", "list"]);
    assert.match(listed, /^tiny +on disk +26\.\d kB/m);
    assert.equal((await model(["model", "verify", "tiny"])).status, 0);
  });

  it("makes a model that is served offline, with its own names, limits and temperature", async () => {
    const seen = hub.seen.length;
    const service = await Service.start(["--model", "tiny", "--offline"], env);
    try {
      const health = await service.health();
      assert.deepEqual(
        [health.model, health.aliases, health.temperature, health.model_version],
        [tinyModel(new Map()).manifest.id, ["acme/Tiny", "Tiny", "tiny"], 2, "v1"],
      );
      const body = await service.decide({ state: "x", candidates: ["a", "b"], model: "tiny" }, "/v1/rank");
      assert.equal(body.temperature, 2);
      const [issue] = await service.refused("/v1/rank", { state: "go ".repeat(70), candidates: ["a", "b"] });
      assert.match(issue?.msg ?? "", /at most 64 tokens/);
      await service.refused("/v1/rank", { state: "x", candidates: ["a", "b"], model: "twig" });
      const { models } = JSON.parse((await service.call("GET", "/v1/models")).text);
      assert.equal(models[0].id, tinyModel(new Map()).manifest.id);
    } finally {
      await service.stop();
    }
    assert.equal(hub.seen.length, seen);
  });

  it("refuses to serve what was changed since, by the file's name", async () => {
    const [folder = ""] = (await readdir(path.join(home, "data"), { recursive: true }))
      .filter((name) => name.endsWith("tokenizer.json"))
      .map((name) => path.join(home, "data", path.dirname(name)));
    await cp(path.join(folder, "model.safetensors"), path.join(folder, "tokenizer.json"));
    const { status, stderr } = await model(["serve", "--model", "tiny"]);
    assert.equal(status, 1);
    assert.match(stderr, /tokenizer\.json in \S+ does not match the manifest: its SHA-256/);
    assert.equal((await model(["model", "pull", manifestFile])).status, 0);
    assert.equal((await model(["model", "verify", "tiny"])).status, 0);
  });

  it("is undone by decision model remove, with the graphs that were made of it", async () => {
    const graphs = path.join(home, "cache/typed-decisions/graphs");
    assert.equal((await readdir(graphs)).length, 1, "it has been served");
    const { status, stdout } = await model(["model", "remove", "tiny"]);
    assert.deepEqual([status, /^removed acme\/Tiny@/.test(stdout)], [0, true]);
    assert.deepEqual(await readdir(path.join(home, "data/typed-decisions/models")), []);
    assert.deepEqual(await readdir(graphs), []);
    assert.equal((await model(["model", "remove", "tiny"])).status, 2);
  });

  it("of the published model says what a hub without it answers", async () => {
    const { status, stdout, stderr } = await model(["model", "pull", "gemmadecision"]);
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(
      stderr,
      /^decision model pull: http:\/\/127\.0\.0\.1:\d+ has no model rajan2k\/GemmaDecision-270M \(404\)\.$/m,
    );
  });
});
