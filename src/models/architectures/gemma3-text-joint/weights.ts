import type { Gemma3Weights, StoredTable } from "../../../onnx/causal/gemma3-io.ts";
import { faultOf } from "../../weights/safetensors.ts";
import type { Tensors } from "../../weights/tensors.ts";

/** The head's tensor names and size. */
export interface HeadNames {
  readonly norm: string;
  readonly inner: string;
  readonly out: string;
  readonly innerSize: number;
}

/** The weights of a gemma3_text model and its head, by the graph's names. */
export function gemma3Weights(model: Tensors, head: Tensors, names: HeadNames): Gemma3Weights {
  const prefix = prefixOf(model);
  const headNames = new Map([
    ["head.norm", names.norm],
    ["head.0", names.inner],
    ["head.1", names.out],
  ]);
  return {
    float32(name, shape) {
      const parts = name.split(".");
      const of = headNames.get(parts.slice(0, 2).join("."));
      if (of !== undefined) return head.float32(`${of}.${parts[2]}`, shape);
      return model.float32(`${prefix}${name}.weight`, shape);
    },
    stored(name, shape) {
      const { type, ...rest } = model.streamed(`${prefix}${name}.weight`, shape);
      return { type: STORED_TYPES[type], ...rest };
    },
  };
}

const STORED_TYPES: Readonly<Record<"F16" | "BF16" | "F32", StoredTable["type"]>> = {
  F16: "float16",
  BF16: "bfloat16",
  F32: "float32",
};

/** Prefix of `embed_tokens` and `layers`: "model." if the model was saved with a language-model head. */
function prefixOf(model: Tensors): string {
  const suffix = "embed_tokens.weight";
  const found = [...model.places.keys()].filter((name) => name === suffix || name.endsWith(`.${suffix}`));
  const [name] = found;
  if (name === undefined || found.length > 1)
    throw faultOf("model.safetensors")(`has ${found.length} tensors named ${suffix}, expected one`);
  return name.slice(0, name.length - suffix.length);
}

/**
 * Finds the head's layers by shape, because their names vary: a normalization [hidden], a linear layer [inner, hidden]
 * and a linear layer [1, inner], each with a bias.
 *
 * @throws ServiceError INVALID_MODEL naming an unexpected or missing layer
 */
export function headNames(head: Tensors, hidden: number): HeadNames {
  const invalid = faultOf("joint_head.safetensors");
  const layers = new Map<string, { weight?: readonly number[]; bias?: readonly number[] }>();
  for (const [name, { shape }] of head.places) {
    const [, layer = "", part] = /^(.*)\.(weight|bias)$/.exec(name) ?? [];
    if (part !== "weight" && part !== "bias")
      throw invalid(`has the tensor ${name}, expected names that end with .weight or .bias`);
    layers.set(layer, { ...layers.get(layer), [part]: shape });
  }
  const take = (what: string, fits: (weight: readonly number[]) => boolean): string => {
    const found = [...layers].filter(([, { weight }]) => weight && fits(weight)).map(([name]) => name);
    const [name] = found;
    if (name === undefined || found.length > 1)
      throw invalid(`has ${found.length} layers with a weight of shape ${what}, expected one`);
    return name;
  };
  const out = take("[1, inner]", ([rows, , more]) => rows === 1 && more === undefined);
  const innerSize = layers.get(out)?.weight?.[1] ?? Number.NaN;
  const inner = take(`[${innerSize}, ${hidden}]`, (weight) => weight.join() === `${innerSize},${hidden}`);
  const norm = take(`[${hidden}]`, (weight) => weight.join() === `${hidden}`);
  for (const name of layers.keys()) {
    if (![out, inner, norm].includes(name))
      throw invalid(`has the tensor ${name}, which is not a layer of this head`);
  }
  return { norm, inner, out, innerSize };
}
