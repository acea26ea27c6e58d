import type { GraphFacts, GraphValue } from "../../../onnx/file/graph-facts.ts";
import { isRecord } from "../../../records.ts";
import { FAMILY_TYPES, familyOf, longestInput } from "./families.ts";

/** What a model's outputs mean. */
export type Reading =
  /** Logits of the labels of natural-language inference, by their positions. */
  | { readonly kind: "entailment"; readonly entailment: number; readonly contradiction: number }
  /** One logit: how well a document fits a query. */
  | { readonly kind: "relevance" };

/** A model that reads pairs of texts. */
export interface Recognized {
  readonly modelType: string;
  readonly reading: Reading;
  /** Number of logits. */
  readonly labels: number;
  /** Tokens of the longest pair, special tokens included. */
  readonly maxTokens: number;
  /** Token ids that the model knows; undefined if it does not say. */
  readonly vocabulary: number | undefined;
}

/** Why a model cannot be served: what was found, and what was expected. A sentence without its final period. */
export interface Refused {
  readonly fault: string;
}

/** Parsed files, whose contents are not trusted. */
export interface DescribedModel {
  /** config.json */
  readonly config: Readonly<Record<string, unknown>>;
  /** `model_max_length` of tokenizer_config.json, if any. */
  readonly modelMaxLength?: unknown;
  /** Names of the labels in the order of the logits, if the user gives them. */
  readonly labels?: readonly string[] | undefined;
}

const EXPECTED =
  "a classifier by entailment (labels entailment and contradiction or not_entailment) or a reranker (one label)";

/**
 * Recognizes zero-shot classifiers and rerankers from their configuration. Their code is never run.
 *
 * @see https://huggingface.co/docs/transformers/main_classes/configuration
 */
export function recognizeConfig({ config, modelMaxLength, labels }: DescribedModel): Recognized | Refused {
  const { model_type: modelType, auto_map: autoMap } = config;
  if (autoMap !== undefined && autoMap !== null) return refused(ownCode(autoMap));
  const family = familyOf(modelType);
  if (family === undefined)
    return refused(
      `config.json has the model_type ${shown(modelType)}, expected one of ${FAMILY_TYPES.join(", ")}`,
    );
  const kind = otherKind(config.architectures);
  if (kind !== undefined) return refused(`config.json describes ${kind}, expected ${EXPECTED}`);
  const maxTokens = longestInput(family, config, modelMaxLength);
  if (maxTokens === undefined || maxTokens < FEWEST_TOKENS)
    return refused(
      `config.json has max_position_embeddings ${shown(config.max_position_embeddings)}, expected a number that leaves room for at least ${FEWEST_TOKENS} tokens`,
    );
  const names = labels ?? labelsOf(config);
  if ("fault" in names) return names;
  const reading = readingOf(names, labels !== undefined);
  if ("fault" in reading) return reading;
  const { vocab_size: size } = config;
  const vocabulary = typeof size === "number" && Number.isSafeInteger(size) && size > 0 ? size : undefined;
  return { modelType: String(modelType), reading, labels: names.length, maxTokens, vocabulary };
}

/** Chosen: below this, special tokens leave no room for texts. */
const FEWEST_TOKENS = 16;

const DEFAULT_LABELS = ["LABEL_0", "LABEL_1"];

/** Labels are listed by position; no classifier by entailment has more than a few. */
const MOST_LABELS = 1000;

function ownCode(autoMap: unknown): string {
  const files = typeof autoMap === "object" && autoMap !== null ? Object.values(autoMap).flat() : [autoMap];
  const named = files.filter((file) => typeof file === "string").map((file) => shown(file));
  return `config.json needs code of its own (auto_map: ${named.slice(0, 3).join(", ") || "no name"}), which is never run; expected a model that transformers knows without such code`;
}

/** What another kind of model is, in words; undefined for sequence classifiers, and if config.json does not say. */
function otherKind(architectures: unknown): string | undefined {
  if (!Array.isArray(architectures) || architectures.length === 0) return undefined;
  if (architectures.some((name) => /ForSequenceClassification$/.test(String(name)))) return undefined;
  const [first] = architectures;
  const name = String(first);
  const said = (what: string) => `${what} (${shown(first)})`;
  if (/(CausalLM|ConditionalGeneration|LMHeadModel)$/.test(name)) return said("a model that generates text");
  if (/(TokenClassification|QuestionAnswering|MultipleChoice)$/.test(name))
    return said("a model of another task");
  if (/(MaskedLM|PreTraining|Model)$/.test(name)) return said("an embedding or language model");
  return said("a model of an unknown kind");
}

/** The names of the labels by position. */
function labelsOf({ id2label, label2id }: DescribedModel["config"]): readonly string[] | Refused {
  const named = isRecord(id2label) ? entriesById(Object.entries(id2label)) : byName(label2id);
  // transformers writes no names if they are the default ones, of two labels
  return named ?? DEFAULT_LABELS;
}

function byName(label2id: unknown): readonly string[] | Refused | undefined {
  if (!isRecord(label2id)) return undefined;
  return entriesById(Object.entries(label2id).map(([label, id]) => [String(id), label]));
}

function entriesById(entries: readonly (readonly [string, unknown])[]): readonly string[] | Refused {
  const labels = new Map(entries.map(([id, label]) => [Number(id), label]));
  const names = Array.from({ length: Math.min(entries.length, MOST_LABELS) }, (_, at) => labels.get(at));
  const isWhole =
    labels.size === names.length && names.length > 0 && names.every((name) => typeof name === "string");
  if (!isWhole)
    return refused("config.json has an id2label without the labels 0, 1 and so on, one name each");
  return names.map(String);
}

const LABEL_FORMS = {
  entailment: /^(entail(ment|ed|s)?|is_entailment)$/,
  contradiction: /^contradict(ion|s|ed|ory)?$/,
  notEntailment: /^(not|non|no)_?(entail(ment|ed|s)?)$/,
  neutral: /^neutral$/,
};

function readingOf(labels: readonly string[], areGiven: boolean): Reading | Refused {
  if (labels.length === 1) return { kind: "relevance" };
  const plain = labels.map((label) =>
    label
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "_")
      .replaceAll(/^_|_$/g, ""),
  );
  const at = (form: RegExp) => plain.flatMap((label, index) => (form.test(label) ? [index] : []));
  const entailment = at(LABEL_FORMS.entailment);
  const contradiction = at(LABEL_FORMS.contradiction);
  const notEntailment = at(LABEL_FORMS.notEntailment);
  const [yes] = entailment;
  const [no] = contradiction.length === 1 ? contradiction : notEntailment;
  const isClear = entailment.length === 1 && contradiction.length + notEntailment.length === 1;
  const isAll =
    entailment.length + contradiction.length + notEntailment.length + at(LABEL_FORMS.neutral).length;
  if (isClear && isAll === labels.length && yes !== undefined && no !== undefined)
    return { kind: "entailment", entailment: yes, contradiction: no };
  const where = areGiven ? "--labels gives" : "config.json has";
  const found =
    labels.slice(0, 5).map(shown).join(", ") + (labels.length > 5 ? ` and ${labels.length - 5} more` : "");
  const areNameless = !areGiven && plain.every((label) => /^label_\d+$/.test(label));
  const advice = areNameless
    ? ". Name them in the order of the logits, as the model's card gives it: --labels contradiction,neutral,entailment"
    : "";
  return refused(`${where} the labels ${found}, expected those of ${EXPECTED}${advice}`);
}

/** @see https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (TensorProto.DataType) */
const ELEMENT_TYPES: Readonly<Record<number, string>> = {
  1: "float32",
  6: "int32",
  7: "int64",
  9: "bool",
  10: "float16",
  11: "float64",
  16: "bfloat16",
};
const INTEGERS = [6, 7];
const FLOATS = [1, 10];
const REQUIRED_INPUTS = ["input_ids", "attention_mask"];
const OPTIONAL_INPUTS = ["token_type_ids"];
/** Domains whose operators ONNX Runtime brings along. */
const DOMAINS: ReadonlySet<string> = new Set(["", "ai.onnx", "ai.onnx.ml", "com.microsoft"]);

/** The output that a classifier's graph must have. */
export const LOGITS = "logits";

/**
 * Whether a graph can be what its configuration says.
 *
 * @param labels number of logits
 * @returns the fault as the end of a sentence that begins with the graph's name; undefined if there is none
 */
export function graphFault({ inputs, outputs, domains }: GraphFacts, labels: number): string | undefined {
  const foreign = domains.find((domain) => !DOMAINS.has(domain));
  if (foreign !== undefined)
    return `has operators of the domain ${shown(foreign)}, which would need a library of its own; expected ${[...DOMAINS].filter(Boolean).join(", ")}`;
  const names = inputs.map(({ name }) => name);
  const expected = `expected ${REQUIRED_INPUTS.join(" and ")}, and ${OPTIONAL_INPUTS.join(", ")} if it has more`;
  const missing = REQUIRED_INPUTS.find((name) => !names.includes(name));
  if (missing !== undefined) return `has the inputs ${list(names)}, but no ${missing}; ${expected}`;
  const other = names.find((name) => ![...REQUIRED_INPUTS, ...OPTIONAL_INPUTS].includes(name));
  if (other !== undefined) {
    const kind = /^(decoder_|past_key_values|use_cache)/.test(other)
      ? ", as models that generate text have"
      : "";
    return `has the input ${shown(other)}${kind}; ${expected}`;
  }
  return inputs.map(inputFault).find((fault) => fault !== undefined) ?? outputFault(outputs, labels);
}

function inputFault({ name, elementType, shape }: GraphValue): string | undefined {
  if (!INTEGERS.includes(elementType))
    return `has the input ${name} as ${typeName(elementType)}, expected int64 or int32`;
  if (shape === undefined) return undefined; // the first run shows it
  const [batch, length] = shape;
  const isFree =
    shape.length === 2 && (typeof batch === "string" || batch === 1) && typeof length === "string";
  if (isFree) return undefined;
  return `has the input ${name} with the shape ${list(shape)}, expected two dimensions, the second of free size; export it with dynamic axes`;
}

function outputFault(outputs: readonly GraphValue[], labels: number): string | undefined {
  const logits = outputs.find(({ name }) => name === LOGITS);
  const names = outputs.map(({ name }) => name);
  if (logits === undefined) {
    const isEmbedding = names.some((name) =>
      /^(last_hidden_state|sentence_embedding|pooler_output|token_embeddings)$/.test(name),
    );
    return `has the outputs ${list(names)}${isEmbedding ? ", as embedding models have" : ""}; expected ${LOGITS}`;
  }
  const { elementType, shape } = logits;
  if (!FLOATS.includes(elementType))
    return `has the output ${LOGITS} as ${typeName(elementType)}, expected float32 or float16`;
  const last = shape?.at(-1);
  const fits = shape === undefined || (shape.length === 2 && (typeof last === "string" || last === labels));
  return fits
    ? undefined
    : `has the output ${LOGITS} with the shape ${list(shape ?? [])}, expected two dimensions, the second of size ${labels}`;
}

const typeName = (type: number) => ELEMENT_TYPES[type] ?? `type ${type}`;

function list(values: readonly (string | number)[]): string {
  const named = values.slice(0, 8).map((value) => (typeof value === "number" ? String(value) : plain(value)));
  return named.join(", ") + (values.length > 8 ? ` and ${values.length - 8} more` : "") || "none";
}

/** Printable and short: it is text of a stranger. */
const plain = (text: string) => text.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, "?");

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(plain(value));
  if (typeof value === "number") return String(value);
  return value === undefined ? "none" : typeof value;
}

const refused = (fault: string): Refused => ({ fault });
