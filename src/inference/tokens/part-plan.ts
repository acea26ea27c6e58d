import type { RenderedRequest, RenderedText, TextReader, TextTokens } from "../../decisions/request.ts";
import { MAX_ISSUES } from "../../errors.ts";
import { type Node, nodeBelow } from "../nodes.ts";
import type {
  EncodedRequest,
  SpelledToken,
  TextCacheCounters,
  TextRole,
  Tokenizer,
  TokenLimits,
  TooLongText,
  TooManyTokens,
} from "./tokenizer.ts";

/** A part of a pair. Each kind of part has its own special tokens. */
export type PartRole = TextRole;

export interface TextPart {
  readonly role: PartRole;
  readonly text: string;
  /** Special tokens included. */
  readonly maxTokens: number;
}

export interface PartEncoder {
  /**
   * Tokens of each part, special tokens included.
   *
   * @param options.maxTooMany stop after this many refused parts
   * @param options.signal     rejects with its reason once aborted
   * @returns [parts] or fewer, in order
   */
  encodeParts(
    parts: readonly TextPart[],
    options: { readonly maxTooMany: number; readonly signal: AbortSignal },
  ): Promise<readonly (Int32Array | TooManyTokens)[]>;
  /** Undefined for tokenizers without a cache of texts. */
  readonly counters?: TextCacheCounters;
  /** Whether the tokens of a part are cached now. Undefined for encoders without a cache. */
  has?(part: Pick<TextPart, "role" | "text">): boolean;
}

/** Tokenizes single texts. */
export interface PartReader extends TextReader {
  /** @param ids token ids of the text, from `encodeParts` */
  spell(role: PartRole, text: string, ids: Int32Array): Promise<readonly SpelledToken[]>;
}

/** For models that tokenize state, question and candidate separately. */
export class PartTokenizer implements Tokenizer {
  readonly #encoder: PartEncoder;
  readonly #reader: PartReader;

  constructor(encoder: PartEncoder, reader: PartReader) {
    this.#encoder = encoder;
    this.#reader = reader;
  }

  readTexts(texts: readonly string[]): Promise<readonly TextTokens[]> {
    return this.#reader.readTexts(texts);
  }

  /** Equal texts in the same role are tokenized once. */
  encodeRequest(request: RenderedRequest, limits: TokenLimits, signal: AbortSignal): Promise<EncodedRequest> {
    return encodeByParts(request, limits, this.#encoder, signal);
  }

  textCache(): TextCacheCounters {
    return this.#encoder.counters ?? { hits: 0, misses: 0 };
  }

  isCached(role: PartRole, text: string): boolean | undefined {
    return this.#encoder.has?.({ role, text });
  }

  spell(role: PartRole, text: string, ids: Int32Array): Promise<readonly SpelledToken[]> {
    return this.#reader.spell(role, text, ids);
  }
}

export async function encodeByParts(
  request: RenderedRequest,
  limits: TokenLimits,
  encoder: PartEncoder,
  signal: AbortSignal,
): Promise<EncodedRequest> {
  const parts = new PartTable(limits);
  const state = parts.add("state", request.state);
  const questions = request.questions.map(({ question, candidates }) => ({
    question: parts.add("question", question),
    candidates: candidates.map((candidate) => parts.add("candidate", candidate)),
  }));
  // below a refused state, refused questions give no issues: so as many more parts must be read
  const maxTooMany = MAX_ISSUES + questions.length;
  const encoded = await encoder.encodeParts(parts.list, { maxTooMany, signal });

  const tooLong: TooLongText[] = [];
  const read = ({ at, loc }: PlacedPart, what: TooLongText["what"], before = 0): Int32Array => {
    const tokens = encoded[at];
    if (tokens instanceof Int32Array) return tokens;
    if (tokens !== undefined) {
      const maxTokens = what === "candidate" ? limits.maxCandidateTokens : limits.maxStateQuestionTokens;
      tooLong.push({ loc, what, maxTokens, came: { ...tokens, count: before + tokens.count } });
    }
    return NO_TOKENS;
  };
  const stateNode = nodeBelow(undefined, read(state, "state"));
  const stateTokens = stateNode.tokens.length;
  const isStateTooLong = tooLong.length > 0;
  const plan = questions.map(({ question, candidates }): readonly Node[] => {
    const tokens = isStateTooLong ? NO_TOKENS : read(question, "state and question", stateTokens);
    const count = stateTokens + tokens.length;
    if (tokens.length > 0 && count > limits.maxStateQuestionTokens) {
      const came = { count, isExact: true };
      const maxTokens = limits.maxStateQuestionTokens;
      tooLong.push({ loc: question.loc, what: "state and question", maxTokens, came });
    }
    const questionNode = nodeBelow(stateNode, tokens);
    return candidates.map((part) => nodeBelow(questionNode, read(part, "candidate")));
  });
  return { plan, tooLong };
}

const NO_TOKENS = new Int32Array(0); // placeholder for a refused part; its plan is not used

interface PlacedPart {
  /** Index into the list of parts. */
  readonly at: number;
  readonly loc: RenderedText["loc"];
}

/** The distinct parts of a request in the order of their first use. */
class PartTable {
  readonly list: TextPart[] = [];
  readonly #maxTokens: Readonly<Record<PartRole, number>>;
  readonly #indexes: Readonly<Record<PartRole, Map<string, number>>> = {
    state: new Map(),
    question: new Map(),
    candidate: new Map(),
  };

  constructor({ maxStateQuestionTokens, maxCandidateTokens }: TokenLimits) {
    this.#maxTokens = {
      state: maxStateQuestionTokens,
      question: maxStateQuestionTokens,
      candidate: maxCandidateTokens,
    };
  }

  add(role: PartRole, { text, loc }: RenderedText): PlacedPart {
    const indexes = this.#indexes[role];
    const at = indexes.get(text) ?? this.list.push({ role, text, maxTokens: this.#maxTokens[role] }) - 1;
    indexes.set(text, at);
    return { at, loc };
  }
}
