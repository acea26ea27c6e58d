import type { JSONSchemaType } from "ajv";
import {
  FILE_NAME_PATTERN,
  ID_PATTERN,
  MAX_FILE_NAME_LENGTH,
  MAX_ID_LENGTH,
  MAX_REPOSITORY_LENGTH,
  PRINTABLE_PATTERN,
  REPOSITORY_PATTERN,
} from "./names.ts";

/** `manifest.json` of a model package, format `typed-decisions-model-v1`. */
export interface Manifest {
  readonly format: "typed-decisions-model-v1";
  /** `<namespace>/<name>@<revision>` */
  readonly id: string;
  readonly aliases: readonly string[];
  readonly version: string;
  readonly release_date: string;
  readonly description: string;
  readonly temperature: number;
  readonly shows_labels: boolean;
  readonly architecture: Architecture;
  readonly limits: { readonly max_state_question_tokens: number; readonly max_candidate_tokens: number };
  /** SHA-256 of every other file of the package, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Where the files were published. Then the id's revision is that commit, else it is the digest over the files. */
  readonly origin?: Origin;
}

export interface Origin {
  /** `<namespace>/<name>` on the hub. */
  readonly repository: string;
  /** The commit. */
  readonly revision: string;
}

export type Architecture = TokenTreeArchitecture | JointTextArchitecture | JointGraphArchitecture;

/** An encoder whose attention follows state, question, candidate; weights in `model.safetensors`. */
export interface TokenTreeArchitecture {
  readonly type: "bert-token-tree";
  readonly vocab: number;
  readonly hidden: number;
  readonly heads: number;
  readonly inner: number;
  readonly layers: number;
  readonly positions: number;
  readonly layer_norm_epsilon: number;
  readonly activation: "gelu_exact";
}

/**
 * A causal model that reads a pair as one text. Its shape stands in `config.json`, its weights in `model.safetensors`, its head in
 * `joint_head.safetensors`.
 */
export interface JointTextArchitecture {
  readonly type: "gemma3-text-joint";
}

/** A graph that reads pairs, each as one text: `model.onnx`, `input_ids` and `attention_mask` -> `scores`. */
export interface JointGraphArchitecture {
  readonly type: "onnx-joint-pairs";
  /** Longest pair that the graph takes. */
  readonly max_tokens: number;
  /** Told by such exports; not read here. */
  readonly pad_id?: number;
  readonly bos_id: number;
}

/** The largest a size may be: nothing that a package says makes us ask for more memory than its files have bytes. */
const MAX_SIZE = 2 ** 31 - 1;

const text = { type: "string", minLength: 1, pattern: PRINTABLE_PATTERN } as const;
const size = (description: string) =>
  ({ type: "integer", minimum: 1, maximum: MAX_SIZE, description }) as const;
const id = (description: string) =>
  ({ type: "integer", minimum: 0, maximum: MAX_SIZE, description }) as const;

const tokenTree: JSONSchemaType<TokenTreeArchitecture> = {
  type: "object",
  description:
    "An encoder whose attention follows state, question, candidate. Weights in float16 in model.safetensors, a BERT WordPiece tokenizer in tokenizer.json.",
  required: [
    "type",
    "vocab",
    "hidden",
    "heads",
    "inner",
    "layers",
    "positions",
    "layer_norm_epsilon",
    "activation",
  ],
  properties: {
    type: { type: "string", const: "bert-token-tree" },
    vocab: size("Tokens of the vocabulary."),
    hidden: size("Width of a token's vector; a multiple of heads."),
    heads: size("Attention heads of a layer."),
    inner: size("Width of the feed-forward layer."),
    layers: size("Layers."),
    positions: size("Rows of the position table."),
    layer_norm_epsilon: {
      type: "number",
      exclusiveMinimum: 0,
      description: "Added to the variance in a normalisation.",
    },
    activation: { type: "string", const: "gelu_exact", description: "GELU with the error function." },
  },
};

const jointText: JSONSchemaType<JointTextArchitecture> = {
  type: "object",
  description:
    "A causal model of the kind gemma3_text that reads a pair as one text. Its shape is in config.json, its weights in model.safetensors, its scoring head in joint_head.safetensors.",
  required: ["type"],
  properties: { type: { type: "string", const: "gemma3-text-joint" } },
};

const jointGraph: JSONSchemaType<JointGraphArchitecture> = {
  type: "object",
  description:
    "A graph that reads pairs, each as one text: model.onnx with the inputs input_ids and attention_mask (int64, [batch, sequence]) and the output scores (float32, [batch]).",
  required: ["type", "max_tokens", "bos_id"],
  properties: {
    type: { type: "string", const: "onnx-joint-pairs" },
    max_tokens: size("Tokens of the longest pair that the graph takes."),
    pad_id: {
      ...id(
        "Token that fills up shorter pairs, on the right. Not read: the service feeds one pair at a time, which needs no padding.",
      ),
      nullable: true,
    },
    bos_id: id("Token that begins a pair."),
  },
};

/** Members that the schema does not name (`trained_on`, say) are for people and are not read. */
export const manifestSchema: JSONSchemaType<Manifest> = {
  type: "object",
  title: "Manifest of a model package",
  description: "manifest.json of a folder that `decision serve --model-path` serves.",
  required: [
    "format",
    "id",
    "aliases",
    "version",
    "release_date",
    "description",
    "temperature",
    "shows_labels",
    "architecture",
    "limits",
    "files",
  ],
  properties: {
    format: { type: "string", const: "typed-decisions-model-v1" },
    id: {
      type: "string",
      pattern: ID_PATTERN,
      maxLength: MAX_ID_LENGTH,
      description:
        "<namespace>/<name>@<revision>. Both names are letters, digits and _, with single dots and hyphens between. The revision is origin.revision where there is an origin, else the first 40 hex digits of the SHA-256 over the lines `<sha256>  <file name>\\n` of files, sorted by name.",
    },
    aliases: {
      type: "array",
      items: text,
      description: "More names by which requests may call the model.",
    },
    version: { ...text, description: "The model's version, for people." },
    release_date: {
      type: "string",
      pattern: "^\\d{4}-\\d{2}-\\d{2}$",
      description: "Year, month and day.",
    },
    description: {
      type: "string",
      pattern: PRINTABLE_PATTERN,
      description: "One line that /v1/models shows.",
    },
    temperature: {
      type: "number",
      exclusiveMinimum: 0,
      description: "Divisor of the scores in the softmax.",
    },
    shows_labels: {
      type: "boolean",
      description: "Whether a choice shows the model `label: description`, or the description alone.",
    },
    architecture: {
      type: "object",
      required: ["type"],
      discriminator: { propertyName: "type" },
      oneOf: [tokenTree, jointText, jointGraph],
    },
    limits: {
      type: "object",
      description: "A request that passes one is refused; nothing is cut off.",
      required: ["max_state_question_tokens", "max_candidate_tokens"],
      properties: {
        max_state_question_tokens: size("Tokens of state and question together, special tokens included."),
        max_candidate_tokens: size("Tokens of a candidate, special tokens included."),
      },
    },
    files: {
      type: "object",
      description:
        "SHA-256 of every other file of the package, by name. A name has no folder in it, and no two differ in case alone; files of the folder that are not named here are never read.",
      required: [],
      propertyNames: { pattern: FILE_NAME_PATTERN, maxLength: MAX_FILE_NAME_LENGTH },
      maxProperties: 1000,
      additionalProperties: { type: "string", pattern: "^[0-9a-f]{64}$" },
    },
    origin: {
      type: "object",
      nullable: true,
      description: "Where the files were published, if they were.",
      required: ["repository", "revision"],
      properties: {
        repository: {
          type: "string",
          pattern: REPOSITORY_PATTERN,
          maxLength: MAX_REPOSITORY_LENGTH,
          description: "<namespace>/<name> on the hub.",
        },
        revision: {
          type: "string",
          pattern: "^[0-9a-f]{40}$",
          description: "The commit.",
        },
      },
    },
  },
};
