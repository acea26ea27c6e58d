import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { openGraph } from "../../src/models/architectures/architectures.ts";
import { beginOf, ChangedPackage, changeHeader } from "../support/changed-package.ts";
import { gemma3Folder } from "../support/gemma3-golden.ts";

const WEIGHTS = "model.safetensors";
const HEAD = "joint_head.safetensors";
const MAP = "model.layers.0.mlp.up_proj.weight";

describe("a package of a causal model", () => {
  let changed: ChangedPackage;
  let cache: string;
  before(async () => {
    cache = await mkdtemp(path.join(tmpdir(), "gemma3-package-"));
  });
  after(() => rm(cache, { recursive: true }));

  /** Opens the package after a change, and tells what was said of it. */
  async function refusal(change: (changed: ChangedPackage) => Promise<void>): Promise<string> {
    changed = await ChangedPackage.of(gemma3Folder("all-sliding"));
    try {
      await change(changed);
      const opened = await changed.open();
      await openGraph(opened, { form: "fp32", folders: { cache, temporary: cache } });
      return "";
    } catch (error) {
      assert.ok(error instanceof Error && "kind" in error, String(error));
      assert.equal(error.kind, "INVALID_MODEL");
      return error.message;
    } finally {
      await changed.remove();
    }
  }

  it("is accepted as it is", async () => {
    assert.equal(await refusal(async () => {}), "");
  });

  const members: { name: string; value: unknown; says: RegExp }[] = [
    { name: "model_type", value: "llama", says: /model_type "llama"/ },
    { name: "hidden_activation", value: "silu", says: /hidden_activation "silu"/ },
    { name: "attention_bias", value: true, says: /attention_bias true/ },
    { name: "attn_logit_softcapping", value: 50, says: /attn_logit_softcapping 50/ },
    { name: "use_bidirectional_attention", value: true, says: /use_bidirectional_attention true/ },
    { name: "rope_scaling", value: { factor: 8 }, says: /rope_scaling/ },
    { name: "num_key_value_heads", value: 3, says: /num_key_value_heads 3/ },
    { name: "head_dim", value: 15, says: /head_dim 15/ },
    { name: "head_dim", value: "16", says: /head_dim "16"/ },
    { name: "hidden_size", value: undefined, says: /hidden_size/ },
    { name: "hidden_size", value: 64, says: /embed_tokens\.weight in shape|\[\d+, 64\]|\[64\]/ },
    { name: "rms_norm_eps", value: 0, says: /rms_norm_eps 0/ },
    { name: "query_pre_attn_scalar", value: -1, says: /query_pre_attn_scalar -1/ },
    { name: "num_hidden_layers", value: 5000, says: /num_hidden_layers 5000/ },
    { name: "num_hidden_layers", value: 3, says: /layer_types/ },
    { name: "layer_types", value: ["sliding_attention", "chunked"], says: /"chunked"/ },
    {
      name: "max_position_embeddings",
      value: 100,
      says: /max_position_embeddings in config\.json allows 100/,
    },
    { name: "rope_parameters", value: { full_attention: {} }, says: /full_attention\.rope_theta/ },
    {
      name: "rope_parameters",
      value: { full_attention: { rope_type: "yarn", rope_theta: 1 } },
      says: /rope_type "yarn"/,
    },
  ];
  for (const { name, value, says } of members) {
    it(`is refused where config.json has ${name} ${JSON.stringify(value)}`, async () => {
      const message = await refusal((one) =>
        one.changeJson("config.json", (config) => {
          if (value === undefined) delete config[name];
          else config[name] = value;
        }),
      );
      assert.match(message, says);
    });
  }

  const tensors: { name: string; file: string; change: (file: Buffer) => Uint8Array; says: RegExp }[] = [
    {
      name: "a tensor is missing",
      file: WEIGHTS,
      change: (file) => changeHeader(file, (header) => delete header[MAP]),
      says: /lacks the tensor model\.layers\.0\.mlp\.up_proj\.weight/,
    },
    {
      name: "a tensor has another shape",
      file: WEIGHTS,
      change: (file) => changeHeader(file, (header) => header[MAP]?.shape.reverse()),
      says: /up_proj\.weight in shape \[32,64\], expected \[64,32\]/,
    },
    {
      name: "a tensor has another type",
      file: WEIGHTS,
      change: (file) => changeHeader(file, (header) => Object.assign(header[MAP] ?? {}, { dtype: "I16" })),
      says: /I16/,
    },
    {
      name: "a weight is not a number",
      file: WEIGHTS,
      change: (file) => withNumber(file, MAP, 0x7fc0),
      says: /number in model\.layers\.0\.mlp\.up_proj\.weight that is not finite/,
    },
    {
      name: "a word is infinite",
      file: WEIGHTS,
      change: (file) => withNumber(file, "model.embed_tokens.weight", 0xff80),
      says: /number in model\.embed_tokens\.weight that is not finite/,
    },
    {
      name: "there are no words",
      file: WEIGHTS,
      change: (file) => changeHeader(file, (header) => delete header["model.embed_tokens.weight"]),
      says: /0 tensors named embed_tokens\.weight/,
    },
    {
      name: "the head has a layer more",
      file: HEAD,
      change: (file) => changeHeader(file, (header) => Object.assign(header, { "9.bias": header["3.bias"] })),
      says: /joint_head\.safetensors has the tensor 9, which is not a layer/,
    },
    {
      name: "the head has a tensor of another kind",
      file: HEAD,
      change: (file) => changeHeader(file, (header) => Object.assign(header, { scale: header["3.bias"] })),
      says: /joint_head\.safetensors has the tensor scale/,
    },
    {
      name: "the head lacks a bias",
      file: HEAD,
      change: (file) => changeHeader(file, (header) => delete header["1.bias"]),
      says: /joint_head\.safetensors lacks the tensor 1\.bias/,
    },
    {
      name: "the head fits another model",
      file: HEAD,
      change: (file) => changeHeader(file, (header) => delete header["1.weight"]),
      says: /0 layers with a weight of shape \[24, 32\]/,
    },
  ];
  for (const { name, file, change, says } of tensors) {
    it(`is refused where ${name}`, async () => {
      assert.match(await refusal((one) => one.change(file, change)), says);
    });
  }

  it("is refused where its weights change after it was opened", async () => {
    const one = await ChangedPackage.of(gemma3Folder("five-to-one"));
    const opened = await one.open();
    await one.change(WEIGHTS, (file) => withNumber(file, "model.embed_tokens.weight", 0));
    await assert.rejects(openGraph(opened, { form: "fp32", folders: { cache, temporary: cache } }), {
      kind: "INVALID_MODEL",
      message: /model\.safetensors does not match/,
    });
    await one.remove();
  });
});

/** With other bits in the middle of a tensor's first few numbers. */
function withNumber(file: Buffer, tensor: string, bits: number): Buffer {
  const changed = Buffer.from(file);
  changed.writeUInt16LE(bits, beginOf(file, tensor) + 6);
  return changed;
}
