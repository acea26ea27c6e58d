import { ELEMENT_TYPE } from "../../onnx/file/graph-builder.ts";
import type { GraphFacts, GraphValue } from "../../onnx/file/graph-facts.ts";

const INTEGERS: readonly number[] = [ELEMENT_TYPE.int32, ELEMENT_TYPE.int64];
const FLOATS: readonly number[] = [ELEMENT_TYPE.float32, ELEMENT_TYPE.float16];
const REQUIRED_INPUTS = ["input_ids", "attention_mask"];
const OPTIONAL_INPUTS = ["token_type_ids"];
/** Domains whose operators ONNX Runtime brings along. */
const DOMAINS: ReadonlySet<string> = new Set(["", "ai.onnx", "ai.onnx.ml", "com.microsoft"]);

/** The output that the graph of a package must have. */
export interface WantedOutput {
  readonly name: string;
  /** Size of its second dimension; undefined if it has one dimension. */
  readonly labels?: number;
}

/**
 * Whether a graph of pairs can be what its package says.
 *
 * @returns the fault as the end of a sentence that begins with the graph's name; undefined if there is none
 */
export function graphFault(
  { inputs, outputs, domains }: GraphFacts,
  wanted: WantedOutput,
): string | undefined {
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
  return inputs.map(inputFault).find((fault) => fault !== undefined) ?? outputFault(outputs, wanted);
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

function outputFault(outputs: readonly GraphValue[], { name, labels }: WantedOutput): string | undefined {
  const found = outputs.find((output) => output.name === name);
  const names = outputs.map((output) => output.name);
  if (found === undefined) {
    const isEmbedding = names.some((each) =>
      /^(last_hidden_state|sentence_embedding|pooler_output|token_embeddings)$/.test(each),
    );
    return `has the outputs ${list(names)}${isEmbedding ? ", as embedding models have" : ""}; expected ${name}`;
  }
  const { elementType, shape } = found;
  if (!FLOATS.includes(elementType))
    return `has the output ${name} as ${typeName(elementType)}, expected float32 or float16`;
  if (labels === undefined) return undefined;
  const last = shape?.at(-1);
  const fits = shape === undefined || (shape.length === 2 && (typeof last === "string" || last === labels));
  return fits
    ? undefined
    : `has the output ${name} with the shape ${list(shape ?? [])}, expected two dimensions, the second of size ${labels}`;
}

const typeName = (type: number) =>
  Object.entries(ELEMENT_TYPE).find(([, code]) => code === type)?.[0] ?? `type ${type}`;

function list(values: readonly (string | number)[]): string {
  const named = values.slice(0, 8).map((value) => (typeof value === "number" ? String(value) : plain(value)));
  return named.join(", ") + (values.length > 8 ? ` and ${values.length - 8} more` : "") || "none";
}

/** Printable and short: it is text of a stranger. */
export const plain = (text: string) => text.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, "?");

export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(plain(value));
  if (typeof value === "number") return String(value);
  return value === undefined ? "none" : typeof value;
}
