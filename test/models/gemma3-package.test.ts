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

  const members: readonly (readonly [string, unknown, RegExp])[] = [
    ["model_type", "llama", /model_type "llama"/],
    ["hidden_activation", "silu", /hidden_activation "silu"/],
    ["attention_bias", true, /attention_bias true/],
    ["attn_logit_softcapping", 50, /attn_logit_softcapping 50/],
    ["use_bidirectional_attention", true, /use_bidirectional_attention true/],
    ["rope_scaling", { factor: 8 }, /rope_scaling/],
    ["num_key_value_heads", 3, /num_key_value_heads 3/],
    ["head_dim", 15, /head_dim 15/],
    ["head_dim", "16", /head_dim "16"/],
    ["hidden_size", undefined, /hidden_size/],
    ["hidden_size", 64, /embed_tokens\.weight in shape|\[\d+, 64\]|\[64\]/],
    ["rms_norm_eps", 0, /rms_norm_eps 0/],
    ["query_pre_attn_scalar", -1, /query_pre_attn_scalar -1/],
    ["num_hidden_layers", 5000, /num_hidden_layers 5000/],
    ["num_hidden_layers", 3, /layer_types/],
    ["layer_types", ["sliding_attention", "chunked"], /"chunked"/],
    ["max_position_embeddings", 100, /max_position_embeddings in config\.json allows 100/],
    ["rope_parameters", { full_attention: {} }, /full_attention\.rope_theta/],
    ["rope_parameters", { full_attention: { rope_type: "yarn", rope_theta: 1 } }, /rope_type "yarn"/],
  ];
  for (const [name, value, says] of members) {
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
