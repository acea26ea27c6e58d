/** Encoders whose exports are served, by the `model_type` of config.json. */
interface Family {
  /** How people call it. */
  readonly name: string;
  /**
   * How many rows of the position table no token uses: RoBERTa and its kin count positions from the padding id plus
   * one, so a table of 514 rows holds 512 tokens.
   *
   * @see https://github.com/huggingface/transformers, create_position_ids_from_input_ids
   */
  readonly countsFromPadding?: true;
}

const FAMILIES: Readonly<Record<string, Family>> = {
  albert: { name: "ALBERT" },
  bart: { name: "BART" },
  bert: { name: "BERT" },
  camembert: { name: "CamemBERT", countsFromPadding: true },
  deberta: { name: "DeBERTa" },
  "deberta-v2": { name: "DeBERTa v2 and v3" },
  distilbert: { name: "DistilBERT" },
  electra: { name: "ELECTRA" },
  modernbert: { name: "ModernBERT" },
  mpnet: { name: "MPNet", countsFromPadding: true },
  roberta: { name: "RoBERTa", countsFromPadding: true },
  "xlm-roberta": { name: "XLM-RoBERTa", countsFromPadding: true },
};

/** The `model_type` of every family, for messages. */
export const FAMILY_TYPES: readonly string[] = Object.keys(FAMILIES).sort();

export function familyOf(modelType: unknown): Family | undefined {
  return typeof modelType === "string" && Object.hasOwn(FAMILIES, modelType)
    ? FAMILIES[modelType]
    : undefined;
}

/** Padding id of the families that count from it, if config.json does not say. */
const PADDING_ID = 1;

/**
 * Tokens that the model has positions for.
 *
 * @param config   contents of config.json
 * @param declared `model_max_length` of tokenizer_config.json: the length that the model was trained on, or a huge
 *   number
 * @returns undefined if config.json states no positions
 */
export function longestInput(
  family: Family,
  config: Readonly<Record<string, unknown>>,
  declared: unknown,
): number | undefined {
  const positions = wholeNumber(config.max_position_embeddings);
  if (positions === undefined) return undefined;
  const unused = family.countsFromPadding ? (wholeNumber(config.pad_token_id) ?? PADDING_ID) + 1 : 0;
  return Math.min(positions - unused, wholeNumber(declared) ?? Number.POSITIVE_INFINITY);
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
