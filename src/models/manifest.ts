import { Ajv, type JSONSchemaType } from "ajv";
import { ServiceError } from "../errors.ts";

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

/** A graph that reads padded pairs, each as one text: `model.onnx`, `input_ids` and `attention_mask` -> `scores`. */
export interface JointGraphArchitecture {
  readonly type: "onnx-joint-pairs";
  /** Longest pair that the graph takes. */
  readonly max_tokens: number;
  readonly pad_id: number;
  readonly bos_id: number;
}

const size = { type: "integer", minimum: 1 } as const;
const text = { type: "string", minLength: 1 } as const;

const tokenTree: JSONSchemaType<TokenTreeArchitecture> = {
  type: "object",
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
    vocab: size,
    hidden: size,
    heads: size,
    inner: size,
    layers: size,
    positions: size,
    layer_norm_epsilon: { type: "number", exclusiveMinimum: 0 },
    activation: { type: "string", const: "gelu_exact" },
  },
};

const jointText: JSONSchemaType<JointTextArchitecture> = {
  type: "object",
  required: ["type"],
  properties: { type: { type: "string", const: "gemma3-text-joint" } },
};

const id = { type: "integer", minimum: 0 } as const;
const jointGraph: JSONSchemaType<JointGraphArchitecture> = {
  type: "object",
  required: ["type", "max_tokens", "pad_id", "bos_id"],
  properties: {
    type: { type: "string", const: "onnx-joint-pairs" },
    max_tokens: size,
    pad_id: id,
    bos_id: id,
  },
};

/** Members that the schema does not name (`trained_on`, say) are for people and are not read. */
const schema: JSONSchemaType<Manifest> = {
  type: "object",
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
    id: { type: "string", pattern: "^[^/@\\s]+/[^/@\\s]+@[0-9a-f]{40}$" },
    aliases: { type: "array", items: text },
    version: text,
    release_date: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
    description: { type: "string" },
    temperature: { type: "number", exclusiveMinimum: 0 },
    shows_labels: { type: "boolean" },
    architecture: {
      type: "object",
      required: ["type"],
      discriminator: { propertyName: "type" },
      oneOf: [tokenTree, jointText, jointGraph],
    },
    limits: {
      type: "object",
      required: ["max_state_question_tokens", "max_candidate_tokens"],
      properties: { max_state_question_tokens: size, max_candidate_tokens: size },
    },
    files: {
      type: "object",
      required: [],
      propertyNames: { pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" },
      additionalProperties: { type: "string", pattern: "^[0-9a-f]{64}$" },
    },
    origin: {
      type: "object",
      nullable: true,
      required: ["repository", "revision"],
      properties: {
        repository: { type: "string", pattern: "^[^/@\\s]+/[^/@\\s]+$" },
        revision: { type: "string", pattern: "^[0-9a-f]{40}$" },
      },
    },
  },
};

/** Files without which a package cannot be served. */
const REQUIRED_FILES: Readonly<Record<Architecture["type"], readonly string[]>> = {
  "bert-token-tree": ["model.safetensors", "tokenizer.json"],
  "gemma3-text-joint": ["config.json", "joint_head.safetensors", "model.safetensors", "tokenizer.json"],
  "onnx-joint-pairs": ["model.onnx", "tokenizer.json"],
};

const validate = new Ajv({ strict: true, strictRequired: false, discriminator: true }).compile(schema);

/**
 * @param text contents of manifest.json
 * @param file its path, for messages
 * @throws ServiceError INVALID_MODEL naming the member that is wrong and what it should be
 */
export function readManifest(text: string, file = "manifest.json"): Manifest {
  const invalid = (what: string) => new ServiceError("INVALID_MODEL", `${file}: ${what}.`);
  const manifest = parse(text, file);
  if (!validate(manifest)) {
    const { instancePath = "", message = "is not valid" } = validate.errors?.[0] ?? {};
    throw invalid(`${instancePath || "the manifest"} ${message}`);
  }
  const { architecture } = manifest;
  const missing = REQUIRED_FILES[architecture.type].find((name) => !(name in manifest.files));
  if (missing) throw invalid(`files does not name ${missing}`);
  if (architecture.type === "bert-token-tree" && architecture.hidden % architecture.heads !== 0) {
    const { hidden, heads } = architecture;
    throw invalid(`architecture.hidden (${hidden}) is no multiple of heads (${heads})`);
  }
  return manifest;
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError("INVALID_MODEL", `${file} is not JSON.`, { cause });
  }
}
