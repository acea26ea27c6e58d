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
  /** Where the files are published. If present, the revision of the id is the commit, otherwise the digest of the files. */
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
 * A causal model that reads a pair as one text. `config.json` has the shape, `model.safetensors` the weights,
 * `joint_head.safetensors` the head.
 */
export interface JointTextArchitecture {
  readonly type: "gemma3-text-joint";
}

/** A graph that reads pairs, each as one text: `model.onnx`, `input_ids` and `attention_mask` -> `scores`. */
export interface JointGraphArchitecture {
  readonly type: "onnx-joint-pairs";
  /** Maximum tokens per pair. */
  readonly max_tokens: number;
  /** Present in such exports; ignored. */
  readonly pad_id?: number;
  readonly bos_id: number;
}

/** Maximum of any size, so that a manifest cannot make the service allocate more memory than its files have bytes. */
const MAX_SIZE = 2 ** 31 - 1;

const text = { type: "string", minLength: 1, pattern: PRINTABLE_PATTERN } as const;
const size = (description: string) =>
  ({ type: "integer", minimum: 1, maximum: MAX_SIZE, description }) as const;
const id = (description: string) =>
  ({ type: "integer", minimum: 0, maximum: MAX_SIZE, description }) as const;

const tokenTree: JSONSchemaType<TokenTreeArchitecture> = {
  type: "object",
  description:
    "An encoder whose attention follows state, question and candidate. model.safetensors has the weights in float16 or as int8 rows, tokenizer.json a BERT WordPiece tokenizer.",
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
    vocab: size("Size of the vocabulary."),
    hidden: size("Size of a hidden vector; a multiple of heads."),
    heads: size("Attention heads per layer."),
    inner: size("Width of the feed-forward layer."),
    layers: size("Layers."),
    positions: size("Rows of the position table."),
    layer_norm_epsilon: {
      type: "number",
      exclusiveMinimum: 0,
      description: "Added to the variance in layer normalization.",
    },
    activation: { type: "string", const: "gelu_exact", description: "GELU with the error function." },
  },
};

const jointText: JSONSchemaType<JointTextArchitecture> = {
  type: "object",
  description:
    "A causal gemma3_text model that reads a pair as one text. config.json has the shape, model.safetensors the weights, joint_head.safetensors the scoring head.",
  required: ["type"],
  properties: { type: { type: "string", const: "gemma3-text-joint" } },
};

const jointGraph: JSONSchemaType<JointGraphArchitecture> = {
  type: "object",
  description:
    "A graph that reads each pair as one text: model.onnx with the inputs input_ids and attention_mask (int64, [batch, sequence]) and the output scores (float32, [batch]).",
  required: ["type", "max_tokens", "bos_id"],
  properties: {
    type: { type: "string", const: "onnx-joint-pairs" },
    max_tokens: size("Maximum number of tokens per pair."),
    pad_id: {
      ...id("Padding token. Ignored: the service runs one pair at a time, without padding."),
      nullable: true,
    },
    bos_id: id("Token at the start of each pair."),
  },
};

/** Other members, such as `trained_on`, are ignored. */
export const manifestSchema: JSONSchemaType<Manifest> = {
  type: "object",
  title: "Manifest of a model package",
  description: "manifest.json of a model package, as served by `decision serve --model-path`.",
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
        "<namespace>/<name>@<revision>. Both names are letters, digits and _, with single dots and hyphens between. The revision is origin.revision if there is an origin. Otherwise it is the first 40 hex digits of the SHA-256 over the lines `<sha256>  <file name>\\n` of files, sorted by name.",
    },
    aliases: {
      type: "array",
      items: text,
      description: "Additional names of the model for requests.",
    },
    version: { ...text, description: "The model's version, for people." },
    release_date: {
      type: "string",
      pattern: "^\\d{4}-\\d{2}-\\d{2}$",
      description: "Date as YYYY-MM-DD.",
    },
    description: {
      type: "string",
      pattern: PRINTABLE_PATTERN,
      description: "One-line description, shown by /v1/models.",
    },
    temperature: {
      type: "number",
      exclusiveMinimum: 0,
      description: "Divisor of the scores in the softmax.",
    },
    shows_labels: {
      type: "boolean",
      description: "Whether the model reads `label: description` for a choice, or the description alone.",
    },
    architecture: {
      type: "object",
      required: ["type"],
      discriminator: { propertyName: "type" },
      oneOf: [tokenTree, jointText, jointGraph],
    },
    limits: {
      type: "object",
      description: "A request over a limit is refused. Nothing is truncated.",
      required: ["max_state_question_tokens", "max_candidate_tokens"],
      properties: {
        max_state_question_tokens: size(
          "Maximum number of tokens of state and question together, special tokens included.",
        ),
        max_candidate_tokens: size("Maximum number of tokens of a candidate, special tokens included."),
      },
    },
    files: {
      type: "object",
      description:
        "SHA-256 of every other file of the package, by name without folders; no two names differ in case alone. Files that are not listed are never read.",
      required: [],
      propertyNames: { pattern: FILE_NAME_PATTERN, maxLength: MAX_FILE_NAME_LENGTH },
      maxProperties: 1000,
      additionalProperties: { type: "string", pattern: "^[0-9a-f]{64}$" },
    },
    origin: {
      type: "object",
      nullable: true,
      description: "Where the files are published.",
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
