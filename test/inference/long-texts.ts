import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { Tokenizer as WordPieces } from "tokenizers";
import { LibraryEncoder } from "../../src/inference/tokens/library-encoder.ts";
import { framed, type TextPart } from "../../src/inference/tokens/part-plan.ts";
import { embeddedModel, packageRoot } from "../support/package-root.ts";
import { Random } from "./random.ts";

const embedded = readFileSync(path.join(embeddedModel, "tokenizer.json"), "utf8");
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const RUNS = { type: "Split", pattern: { Regex: "[\\s\\S]{100}" }, behavior: "Isolated", invert: false };

/** The embedded vocabulary with BERT's rules. */
const bert = {
  ...JSON.parse(embedded),
  added_tokens: SPECIAL.map((content) => ({
    id: JSON.parse(embedded).model.vocab[content],
    ...{ content, special: true, single_word: false, lstrip: false, rstrip: false, normalized: false },
  })),
  normalizer: {
    type: "BertNormalizer",
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "BertPreTokenizer" }, RUNS] },
};
export const json = JSON.stringify(bert);
/** The same without runs: a word of more than 100 characters is one `[UNK]`. */
const plainJson = JSON.stringify({ ...bert, pre_tokenizer: { type: "BertPreTokenizer" } });

/** The service's tokenizer, and the library's to compare it with. Special tokens are text to both. */
export async function kindOf(name: string, file: string) {
  const reference = WordPieces.fromString(JSON.stringify({ ...JSON.parse(file), added_tokens: [] }));
  const library = await LibraryEncoder.open(JSON.parse(file), undefined);
  const [cls, sep] = [library.idOf("[CLS]"), library.idOf("[SEP]")];
  const ofBoth = { before: [cls], after: [sep] };
  const frames = { state: ofBoth, question: { before: [], after: [sep] }, candidate: ofBoth };
  return { name, tokenizer: framed(library, frames), reference };
}
export type Kind = Awaited<ReturnType<typeof kindOf>>;

export const EMBEDDED = await kindOf("the embedded model's", embedded);
export const IN_RUNS = await kindOf("long words in runs", json);
export const PLAIN = await kindOf("long words as one token", plainJson);
/** The rules of `training/text_rules.py`, with a small vocabulary. */
export const BY_PATTERNS = await kindOf(
  "words by patterns",
  readFileSync(path.join(packageRoot, "test", "golden", "words", "tokenizer.json"), "utf8"),
);

/** The tokens of one text, or how many too many it has. */
export function encode(role: TextPart["role"], text: string, maxTokens = 2048, kind: Kind = EMBEDDED) {
  return encodeAll([{ role, text, maxTokens }], 20, kind).then(([tokens]) => tokens);
}

export function encodeAll(parts: readonly TextPart[], maxTooMany = 20, kind: Kind = EMBEDDED) {
  return kind.tokenizer.encodeParts(parts, { maxTooMany, signal: new AbortController().signal });
}

/** Counted by the library at once, with the special tokens of a state. */
export async function countWhole(text: string, kind: Kind): Promise<number> {
  return (await kind.reference.encode(text, null, { addSpecialTokens: false })).getLength() + 2;
}

const FRAGMENTS = [
  ..."a word . - [ ] [SEP] \u{1f1e9} \u0338 \ufdfa \u00b2 \u0e31 \u1200 [MASK] [UN SEP] \u6f22 \u00e9".split(
    " ",
  ),
  ..."e\u0301 \u0316\u0301 \u302e \u{1f600} \u{1d165} \ud55c \u00a0 \u0130 \u03a3".split(" "),
  ...[" ", "  ", "\n", "x".repeat(60), "!".repeat(30), "q".repeat(99), "\u00c5".repeat(90)],
  "supercalifragilistic",
];

/** How many of the texts ended which way. */
export interface Outcomes {
  readonly accepted: number;
  readonly refusedExactly: number;
  readonly refusedByPieces: number;
}

/**
 * Holds random long texts to the library's count of the whole: they are accepted if and only if they fit, and a lower bound is one.
 *
 * @throws AssertionError for the first that is not
 */
export async function holdBounds(
  kind: Kind,
  { seed, texts }: { readonly seed: number; readonly texts: number },
): Promise<Outcomes> {
  const random = new Random(seed);
  const seen = { accepted: 0, refusedExactly: 0, refusedByPieces: 0 };
  for (let round = 0; round < texts; round++) {
    const some = Array.from({ length: random.between(1, 4) }, () => random.pick(FRAGMENTS));
    const length = random.between(1, 3) * 32_768 + random.between(-3, 3);
    let text = "";
    while (text.length < length) text += random.pick(some).repeat(random.pick([1, 1, 1, 7, 500]));
    const count = await countWhole(text, kind);
    const share = random.pick([0.001, 0.02, 0.5, 1]);
    const maxTokens = Math.max(2, Math.floor(count * share) + random.pick([-500, -300, -100, -1, 0, 1, 100]));
    const encoded = await encode("state", text, maxTokens, kind);
    const label = `round ${round}: ${JSON.stringify(some)} x ${text.length}`;
    if (encoded instanceof Int32Array) {
      seen.accepted += 1;
      assert.equal(encoded.length, count, label);
      assert.ok(count <= maxTokens, label);
      continue;
    }
    assert.ok(encoded !== undefined && count > maxTokens, label);
    assert.ok(encoded.count > maxTokens && encoded.count <= count, label);
    if (encoded.isExact) assert.equal(encoded.count, count, label);
    seen[encoded.isExact ? "refusedExactly" : "refusedByPieces"] += 1;
  }
  return seen;
}
