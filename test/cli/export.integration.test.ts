import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { revisionOf } from "../../src/models/package/package.ts";
import { writeTinyPackage } from "../models/tiny-package.ts";
import { embeddedModel, packageRoot } from "../support/package-root.ts";
import { inProcess } from "./in-process.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "export-"));
  await writeTinyPackage(path.join(folder, "package"));
});
after(() => rm(folder, { recursive: true, force: true }));

const TRITON = ["bud/1/model.onnx", "bud/1/weights.bin", "bud/config.pbtxt"];
const FILES = {
  onnx: ["model.onnx", "weights.bin"],
  triton: TRITON,
  kserve: ["inference-service.yaml", ...TRITON.map((file) => `repository/${file}`)],
};

/** Of a small package, unless another one is named. */
async function exported(name: string, args: readonly string[]) {
  const output = path.join(folder, name);
  const { status, stdout, stderr } = await inProcess(["model", "export", "--output", output, ...args], {
    env: args.includes("--model") ? {} : { DECISION_MODEL_PATH: path.join(folder, "package") },
  });
  assert.equal(status, 0, stderr);
  return { output, stdout };
}

async function filesOf(output: string): Promise<string[]> {
  const found = await readdir(output, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(output, path.join(parentPath, name)))
    .sort();
}

describe("decision model export", () => {
  for (const [format, files] of Object.entries(FILES))
    it(`writes the files of ${format}, and names them`, async () => {
      const { output, stdout } = await exported(format, ["--format", format, "--json"]);
      assert.deepEqual(await filesOf(output), files);
      const told = JSON.parse(stdout);
      assert.deepEqual(told.files.sort(), files);
      assert.deepEqual(
        [told.name, told.format, told.precision, told.output],
        ["bud", format, "int8", output],
      );
      assert.match(told.digest, /^[0-9a-f]{64}$/);
      const weights = files.find((file) => file.endsWith("weights.bin"));
      assert.ok((await stat(path.join(output, weights ?? ""))).size > 0);
    });

  it("configures Triton by its flags", async () => {
    const args = ["--format", "triton", "--name", "Small.1", "--instances", "3", "--threads", "2"];
    const { output, stdout } = await exported("configured", [...args, "--precision", "fp32", "--json"]);
    const config = await readFile(path.join(output, "Small.1/config.pbtxt"), "utf8");
    for (const said of [
      /^name: "Small\.1"$/m,
      /^backend: "onnxruntime"$/m,
      /^max_batch_size: 0$/m,
      /name: "ids" data_type: TYPE_INT32 dims: \[ -1 \]/,
      /name: "scores" data_type: TYPE_FP32 dims: \[ -1 \]/,
      /name: "digest" data_type: TYPE_UINT8 dims: \[ 32 \]/,
      /^instance_group \[ \{ count: 3 /m,
      /"intra_op_thread_count" value: \{ string_value: "2" \}/,
    ])
      assert.match(config, said);
    const { digest, precision } = JSON.parse(stdout);
    assert.equal(precision, "fp32");
    assert.ok(config.includes(`"decision_digest" value: { string_value: "${digest}" }`));
  });

  it("writes a model in PyTorch for Triton, with all that it needs", async () => {
    const args = ["--format", "triton", "--backend", "native", "--threads", "2", "--json"];
    const { output, stdout } = await exported("native", args);
    const { backend, precision, digest, files } = JSON.parse(stdout);
    assert.deepEqual([backend, precision], ["native", "fp32"]);
    assert.deepEqual(await filesOf(output), files.sort());
    const code = (await readdir(path.join(packageRoot, "native/decision_native")))
      .filter((name) => name.endsWith(".py"))
      .map((name) => `decision_native/${name}`);
    assert.deepEqual(
      files,
      [...code, "model.py", "package/manifest.json", "package/model.safetensors"]
        .map((name) => `bud/1/${name}`)
        .concat("bud/config.pbtxt"),
    );
    const config = await readFile(path.join(output, "bud/config.pbtxt"), "utf8");
    assert.match(config, /^backend: "python"$/m);
    for (const [key, value] of Object.entries({ threads: "2", precision, decision_digest: digest }))
      assert.ok(config.includes(`{ key: "${key}" value: { string_value: "${value}" } }`), key);
    const onnx = await exported("native-onnx", ["--format", "onnx", "--precision", "fp32", "--json"]);
    assert.equal(JSON.parse(onnx.stdout).digest, digest);
    const coarse = await exported("native-bf16", [...args, "--precision", "bf16"]);
    assert.notEqual(JSON.parse(coarse.stdout).digest, digest);
  });

  it("gives the two forms of int8 one digest, and fp32 another", async () => {
    const digestOf = async (...args: string[]) => {
      const { output, stdout } = await exported(args.join(""), ["--format", "onnx", "--json", ...args]);
      return [JSON.parse(stdout).digest, await readFile(path.join(output, "model.onnx"), "base64")];
    };
    const [exact, exactGraph] = await digestOf("--weights", "u8u8");
    const [fast, fastGraph] = await digestOf("--weights", "u8s8");
    const [fp32] = await digestOf("--precision", "fp32");
    assert.equal(fast, exact);
    assert.notEqual(fastGraph, exactGraph);
    assert.notEqual(fp32, exact);
  });

  it("writes an InferenceService that KServe takes", async () => {
    const { output } = await exported("service", ["--format", "kserve", "--name", "My_Model.2"]);
    const service = parse(await readFile(path.join(output, "inference-service.yaml"), "utf8"));
    assert.equal(service.apiVersion, "serving.kserve.io/v1beta1");
    assert.equal(service.kind, "InferenceService");
    assert.equal(service.metadata.name, "my-model-2");
    const { model } = service.spec.predictor;
    assert.deepEqual(
      [model.modelFormat, model.protocolVersion, model.storageUri],
      [{ name: "triton" }, "v2", "pvc://models/repository"],
    );
    const schema = await readFile(
      path.join(packageRoot, "deploy/kserve/inference-service.schema.json"),
      "utf8",
    );
    const isValid = new Ajv().compile(JSON.parse(schema));
    assert.equal(isValid(service), true, JSON.stringify(isValid.errors));
    model.storageURI = model.storageUri;
    assert.equal(isValid(service), false);
    assert.ok((await readdir(path.join(output, "repository"))).includes("My_Model.2"));
  });

  it("writes nothing into a folder that is not empty", async () => {
    const output = path.join(folder, "taken");
    await mkdir(output);
    await writeFile(path.join(output, "mine"), "");
    const { status, stderr } = await inProcess(["model", "export", "--format", "onnx", "--output", output]);
    assert.equal(status, 2);
    assert.match(stderr, /--output: expected a new or empty folder, got .*taken, which is not empty/);
    assert.deepEqual(await readdir(output), ["mine"]);
  });

  it("says why a folder cannot be written", async () => {
    const file = path.join(folder, "file");
    await writeFile(file, "");
    const output = path.join(file, "below");
    const { status, stderr } = await inProcess(["model", "export", "--format", "onnx", "--output", output]);
    assert.equal(status, 1);
    assert.match(stderr, /The model cannot be written to .*below: .*(ENOTDIR|not a directory)/);
  });

  it("refuses a package that brings a graph of its own", async () => {
    const { status, stderr } = await inProcess([
      ...["model", "export", "--format", "onnx", "--output", path.join(folder, "pairs")],
      ...["--model-path", await packageOfPairs()],
    ]);
    assert.equal(status, 2);
    assert.match(stderr, /acme\/Pairs@\S+ has its own ONNX graph, which cannot be exported/);
    await assert.rejects(stat(path.join(folder, "pairs", "model.onnx")));
  });

  for (const [what, args, says] of [
    [
      "a precision that a graph does not have",
      ["--format", "onnx", "--output", "x", "--precision", "bf16"],
      /--backend onnx does not support --precision bf16; use one of int8, fp32\./,
    ],
    [
      "a precision that PyTorch does not have",
      ["--format", "triton", "--output", "x", "--backend", "native", "--precision", "int8"],
      /--backend native does not support --precision int8; use one of fp32, bf16, fp16\./,
    ],
    [
      "PyTorch in another server",
      ["--format", "kserve", "--output", "x", "--backend", "native"],
      /--backend native needs --format triton, not kserve\./,
    ],
    [
      "a name with a slash",
      ["--format", "triton", "--output", "x", "--name", "a/b"],
      /--name must begin with a letter or digit/,
    ],
    ["an unknown model", ["--format", "onnx", "--output", "x", "--model", "nope"], /unknown model "nope"/],
  ] as const)
    it(`ends with 2 for ${what}`, async () => {
      const { status, stdout, stderr } = await inProcess(["model", "export", ...args], { cwd: folder });
      assert.equal(status, 2, stderr);
      assert.match(stderr, says);
      assert.equal(stdout, "");
      await assert.rejects(stat(path.join(folder, "x")), "nothing was made");
    });
});

/** A package whose manifest is sound; its graph is never opened. */
async function packageOfPairs(): Promise<string> {
  const own = path.join(folder, "pairs-package");
  const manifest = JSON.parse(await readFile(path.join(embeddedModel, "manifest.json"), "utf8"));
  const tokenizer = await readFile(path.join(embeddedModel, "tokenizer.json"));
  const contents = { "model.onnx": Buffer.from("a graph"), "tokenizer.json": tokenizer };
  const files = Object.fromEntries(
    Object.entries(contents).map(([name, bytes]) => [name, createHash("sha256").update(bytes).digest("hex")]),
  );
  await mkdir(own);
  for (const [name, bytes] of Object.entries(contents)) await writeFile(path.join(own, name), bytes);
  const architecture = { type: "onnx-joint-pairs", max_tokens: 64, bos_id: 2 };
  const changed = {
    ...manifest,
    id: `acme/Pairs@${revisionOf(files)}`,
    aliases: ["pairs"],
    architecture,
    files,
  };
  await writeFile(path.join(own, "manifest.json"), JSON.stringify(changed));
  return own;
}
