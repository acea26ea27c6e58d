import { copyFile, mkdir, open, writeFile } from "node:fs/promises";
import path from "node:path";
import { Random } from "../../../bench/random.ts";
import { describeFolder } from "../../../src/models/inspect/package-import.ts";
import { writePackage } from "../../../src/models/inspect/package-writing.ts";
import { packageRoot } from "../../../src/package-root.ts";

/** The shape of the published 270M decoder. */
const SHAPE = {
  hidden: 640,
  inner: 2048,
  heads: 4,
  keyHeads: 1,
  headSize: 256,
  headInner: 512,
  vocab: 262_144,
};
const LAYERS = Array.from({ length: 18 }, (_, at) => (at % 6 === 5 ? "full_attention" : "sliding_attention"));
const CONFIG = {
  architectures: ["Gemma3ForCausalLM"],
  model_type: "gemma3_text",
  attention_bias: false,
  attn_logit_softcapping: null,
  bos_token_id: 2,
  head_dim: SHAPE.headSize,
  hidden_activation: "gelu_pytorch_tanh",
  hidden_size: SHAPE.hidden,
  intermediate_size: SHAPE.inner,
  layer_types: LAYERS,
  max_position_embeddings: 32_768,
  num_attention_heads: SHAPE.heads,
  num_hidden_layers: LAYERS.length,
  num_key_value_heads: SHAPE.keyHeads,
  query_pre_attn_scalar: 256,
  rms_norm_eps: 1e-6,
  rope_local_base_freq: 10_000,
  rope_scaling: null,
  rope_theta: 1_000_000,
  sliding_window: 512,
  torch_dtype: "bfloat16",
  vocab_size: SHAPE.vocab,
};
/** A small tokenizer. Its vocabulary has few words, so that texts have more tokens than with Gemma's. */
const TOKENIZER = path.join(packageRoot, "test/golden/gemma3/five-to-one/tokenizer.json");
/** Random numbers are repeated after so many, since half a gigabyte of different ones would take long. A prime. */
const DIFFERENT = 1_048_583;

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** Largest absolute value. */
  readonly spread: number;
}

/** Writes a package with the shape of the 270M decoder and random weights, about 540 MB, into a new folder. */
export async function writeRandomDecoder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "config.json"), JSON.stringify(CONFIG));
  await copyFile(TOKENIZER, path.join(folder, "tokenizer.json"));
  const random = new Random(270, "weights");
  const numbers = Float32Array.from({ length: DIFFERENT }, () => random.between(-1000, 1000) / 1000);
  await writeTensors(path.join(folder, "model.safetensors"), modelTensors(), numbers);
  await writeTensors(path.join(folder, "joint_head.safetensors"), headTensors(), numbers);
  const facts = { name: "random/Decoder-270M", aliases: [], version: "v0", releaseDate: "2026-01-01" };
  await writePackage(folder, await describeFolder(folder, facts), { mayReplace: true });
}

function modelTensors(): Tensor[] {
  const { hidden, inner, heads, keyHeads, headSize, vocab } = SHAPE;
  const matrix = (name: string, outputs: number, inputs: number): Tensor => ({
    name: `${name}.weight`,
    shape: [outputs, inputs],
    spread: 2 / Math.sqrt(inputs),
  });
  const norm = (name: string, size = hidden): Tensor => ({
    name: `${name}.weight`,
    shape: [size],
    spread: 0.5,
  });
  const layer = (at: string): Tensor[] => [
    norm(`${at}.input_layernorm`),
    norm(`${at}.post_attention_layernorm`),
    norm(`${at}.pre_feedforward_layernorm`),
    norm(`${at}.post_feedforward_layernorm`),
    norm(`${at}.self_attn.q_norm`, headSize),
    norm(`${at}.self_attn.k_norm`, headSize),
    matrix(`${at}.self_attn.q_proj`, heads * headSize, hidden),
    matrix(`${at}.self_attn.k_proj`, keyHeads * headSize, hidden),
    matrix(`${at}.self_attn.v_proj`, keyHeads * headSize, hidden),
    matrix(`${at}.self_attn.o_proj`, hidden, heads * headSize),
    matrix(`${at}.mlp.gate_proj`, inner, hidden),
    matrix(`${at}.mlp.up_proj`, inner, hidden),
    matrix(`${at}.mlp.down_proj`, hidden, inner),
  ];
  return [
    matrix("model.embed_tokens", vocab, hidden),
    ...LAYERS.flatMap((_, at) => layer(`model.layers.${at}`)),
    norm("model.norm"),
  ];
}

function headTensors(): Tensor[] {
  const { hidden, headInner } = SHAPE;
  return [
    { name: "0.weight", shape: [hidden], spread: 1 },
    { name: "0.bias", shape: [hidden], spread: 0.3 },
    { name: "1.weight", shape: [headInner, hidden], spread: 2 / Math.sqrt(hidden) },
    { name: "1.bias", shape: [headInner], spread: 0.5 },
    { name: "3.weight", shape: [1, headInner], spread: 4 / Math.sqrt(headInner) },
    { name: "3.bias", shape: [1], spread: 1 },
  ];
}

/** Writes tensors in bfloat16. https://huggingface.co/docs/safetensors */
async function writeTensors(file: string, tensors: readonly Tensor[], numbers: Float32Array): Promise<void> {
  const places: Record<string, object> = {};
  let end = 0;
  for (const { name, shape } of tensors) {
    const begin = end;
    end += 2 * sizeOf(shape);
    places[name] = { dtype: "BF16", shape, data_offsets: [begin, end] };
  }
  const json = JSON.stringify(places);
  const header = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const handle = await open(file, "w");
  try {
    await handle.writeFile(Buffer.concat([length, header]));
    for (const { shape, spread } of tensors) {
      const size = sizeOf(shape);
      const block = Buffer.from(bfloat16(numbers.subarray(0, size).map((number) => number * spread)).buffer);
      for (let left = 2 * size; left > 0; left -= block.length)
        await handle.writeFile(block.subarray(0, left));
    }
  } finally {
    await handle.close();
  }
}

/** The upper halves of float32 values, truncated instead of rounded. */
function bfloat16(numbers: Float32Array): Uint16Array {
  return Uint16Array.from(new Uint32Array(numbers.buffer), (bits) => bits >>> 16);
}

const sizeOf = (shape: readonly number[]) => shape.reduce((product, length) => product * length, 1);
