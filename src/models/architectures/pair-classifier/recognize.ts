import { isRecord } from "../../../records.ts";
import { shown } from "../graph-fault.ts";
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

const refused = (fault: string): Refused => ({ fault });
