import { invalidModel } from "../../../errors.ts";
import type { Gemma3Shape, LayerKind } from "../../../onnx/causal/gemma3-io.ts";
import { isRecord } from "../../../records.ts";

/** The members of a gemma3_text model's `config.json` that the graph needs. */
export type Gemma3Config = Omit<Gemma3Shape, "positions" | "headInner"> & {
  readonly maxPositions: number;
};

type Json = Readonly<Record<string, unknown>>;

/** Default of published configurations: one full-attention layer after five sliding-window layers. */
const USUAL_PATTERN = 6;
/** Maximum number of layers. Chosen: more than any model has, and few enough for a list. */
const MOST_LAYERS = 1000;
/** Members of which the graph supports only these values. */
const FIXED: Readonly<Record<string, readonly unknown[]>> = {
  model_type: ["gemma3_text"],
  hidden_activation: ["gelu_pytorch_tanh"],
  attention_bias: [false],
  attn_logit_softcapping: [null],
  use_bidirectional_attention: [false, null],
  rope_scaling: [null],
};

/**
 * Reads the configuration in both spellings: `rope_theta` and `rope_local_base_freq`, or the newer `rope_parameters`;
 * layers by `layer_types` or by `sliding_window_pattern`.
 *
 * @param text contents of config.json
 * @throws ServiceError INVALID_MODEL naming the member that is missing, of another type, or not supported
 */
export function readGemma3Config(text: string): Gemma3Config {
  const config = parse(text);
  if (config.model_type === undefined) throw invalid("lacks the member model_type");
  for (const [name, allowed] of Object.entries(FIXED)) {
    const value = config[name];
    if (value !== undefined && !allowed.includes(value))
      throw invalid(`has ${name} ${shown(value)}, which is not supported; expected ${shown(allowed[0])}`);
  }
  const heads = count(config, "num_attention_heads");
  const kvHeads = count(config, "num_key_value_heads");
  if (heads % kvHeads !== 0)
    throw invalid(`has num_attention_heads ${heads}, expected a multiple of num_key_value_heads ${kvHeads}`);
  const headSize = count(config, "head_dim");
  if (headSize % 2 !== 0) throw invalid(`has head_dim ${headSize}, expected an even number`);
  const layers = layerKinds(config);
  return {
    type: "gemma3",
    vocab: count(config, "vocab_size"),
    hidden: count(config, "hidden_size"),
    heads,
    kvHeads,
    headSize,
    inner: count(config, "intermediate_size"),
    layers,
    window: layers.includes("sliding") ? count(config, "sliding_window") : 1,
    normEpsilon: positive(config, "rms_norm_eps"),
    queryScale: positive(config, "query_pre_attn_scalar") ** -0.5,
    ropeTheta: ropeTheta(config),
    maxPositions: count(config, "max_position_embeddings"),
  };
}

function layerKinds(config: Json): readonly LayerKind[] {
  const layers = count(config, "num_hidden_layers");
  if (layers > MOST_LAYERS) throw invalid(`has num_hidden_layers ${layers}, more than ${MOST_LAYERS}`);
  if (config.layer_types === undefined || config.layer_types === null) {
    const name = "sliding_window_pattern" in config ? "sliding_window_pattern" : "_sliding_window_pattern";
    const pattern = name in config ? count(config, name) : USUAL_PATTERN;
    return Array.from({ length: layers }, (_, layer) => ((layer + 1) % pattern === 0 ? "full" : "sliding"));
  }
  const types = config.layer_types;
  if (!Array.isArray(types) || types.length !== layers)
    throw invalid(`has layer_types, expected a list of num_hidden_layers (${layers}) names`);
  return types.map((type: unknown) => {
    if (type === "full_attention") return "full";
    if (type === "sliding_attention") return "sliding";
    throw invalid(`has ${shown(type)} in layer_types; full_attention and sliding_attention are supported`);
  });
}

function ropeTheta(config: Json): Record<LayerKind, number> {
  const { rope_parameters: parameters } = config;
  if (parameters === undefined || parameters === null) {
    return { full: positive(config, "rope_theta"), sliding: positive(config, "rope_local_base_freq") };
  }
  const thetaOf = (kind: LayerKind) => {
    const name = `${kind}_attention`;
    const of = isRecord(parameters) ? parameters[name] : undefined;
    if (!isRecord(of)) throw invalid(`lacks the member ${name} in rope_parameters`);
    const type = of.rope_type ?? "default";
    if (type !== "default")
      throw invalid(`has rope_type ${shown(type)} in rope_parameters.${name}; only "default" is supported`);
    return positive(of, "rope_theta", `rope_parameters.${name}.`);
  };
  return { full: thetaOf("full"), sliding: thetaOf("sliding") };
}

function count(config: Json, name: string): number {
  const value = config[name];
  if (value === undefined) throw invalid(`lacks the member ${name}`);
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value < 2 ** 31) return value;
  throw invalid(`has ${name} ${shown(value)}, expected a whole number of at least 1`);
}

function positive(config: Json, name: string, where = ""): number {
  const value = config[name];
  if (value === undefined) throw invalid(`lacks the member ${where}${name}`);
  if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
  throw invalid(`has ${where}${name} ${shown(value)}, expected a number above 0`);
}

function parse(text: string): Json {
  try {
    const config: unknown = JSON.parse(text);
    if (isRecord(config)) return config;
  } catch (cause) {
    throw invalid("is not JSON", cause);
  }
  throw invalid("is not a JSON object");
}

const shown = (value: unknown) => String(JSON.stringify(value)).slice(0, 100);

const invalid = (what: string, cause?: unknown) => invalidModel(`config.json ${what}.`, cause);
