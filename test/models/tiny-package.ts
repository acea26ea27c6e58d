import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Manifest } from "../../src/models/package/manifest.ts";
import { revisionOf } from "../../src/models/package/package.ts";
import { buildTokenTree } from "../../src/onnx/encoder/bert-token-tree.ts";
import { sha256 } from "../hub/hub-server.ts";
import { seededRandom } from "../support/seeded-random.ts";

const SHAPE = {
  vocab: 50,
  hidden: 32,
  heads: 2,
  inner: 64,
  layers: 1,
  positions: 16,
  layerNormEpsilon: 1e-12,
};

export interface SafetensorsEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/** A safetensors file by its format: 8 bytes length, a JSON header, the tensors' bytes. */
export function safetensors(entries: Readonly<Record<string, unknown>>, data: Uint8Array): Buffer {
  const header = Buffer.from(JSON.stringify(entries));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, data]);
}

/** Weights that the graph of this shape takes, with small random numbers. */
export function tinyWeights(): { readonly entries: Record<string, SafetensorsEntry>; readonly data: Buffer } {
  const { below } = seededRandom(7);
  const entries: Record<string, SafetensorsEntry> = {};
  const pieces: Buffer[] = [];
  let at = 0;
  const make = (name: string, shape: readonly number[]) => {
    const elements = shape.reduce((product, size) => product * size, 1);
    const halves = Uint16Array.from({ length: elements }, () => 0x2c00 + below(0x400)); // 0.06 to 0.12
    entries[name] = { dtype: "F16", shape, data_offsets: [at, at + halves.byteLength] };
    at += halves.byteLength;
    pieces.push(Buffer.from(halves.buffer));
    return halves;
  };
  buildTokenTree(
    SHAPE,
    {
      float16: make,
      float32: (name, shape) => Float32Array.from(make(name, shape), () => 0.1),
      int8: () => undefined,
    },
    "fp32",
  );
  return { entries, data: Buffer.concat(pieces) };
}

/** A tokenizer of words of small letters. */
export function tinyTokenizer() {
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ...letters];
  return {
    version: "1.0",
    added_tokens: [],
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  };
}

/** A package that passes every check; it answers nothing sensible. */
export async function writeTinyPackage(
  folder: string,
  changed: Readonly<Record<string, Buffer>> = {},
): Promise<Manifest> {
  const { entries, data } = tinyWeights();
  const contents: Record<string, Buffer> = {
    "model.safetensors": safetensors(entries, data),
    "tokenizer.json": Buffer.from(JSON.stringify(tinyTokenizer())),
    ...changed,
  };
  const files = Object.fromEntries(
    Object.entries(contents).map(([name, content]) => [name, sha256(content)]),
  );
  const { layerNormEpsilon, ...sizes } = SHAPE;
  const manifest: Manifest = {
    format: "typed-decisions-model-v1",
    id: `acme/Bud@${revisionOf(files)}`,
    aliases: ["bud"],
    version: "v1",
    release_date: "2026-11-21",
    description: "a small one",
    temperature: 2,
    shows_labels: true,
    architecture: {
      type: "bert-token-tree",
      ...sizes,
      layer_norm_epsilon: layerNormEpsilon,
      activation: "gelu_exact",
    },
    limits: { max_state_question_tokens: 64, max_candidate_tokens: 32 },
    files,
  };
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(contents)) await writeFile(path.join(folder, name), content);
  await writeFile(path.join(folder, "manifest.json"), JSON.stringify(manifest, null, 2));
  return manifest;
}
