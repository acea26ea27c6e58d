import { LRUCache } from "lru-cache";
import type { RenderedRequest, RenderedText, TextReader, TextTokens } from "../../decisions/request.ts";
import { MAX_ISSUES } from "../../errors.ts";
import { type Node, nodeBelow, sha256 } from "../nodes.ts";
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
      tooLong.push({ loc, what, maxTokens, actual: { ...tokens, count: before + tokens.count } });
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
      const actual = { count, isExact: true };
      const maxTokens = limits.maxStateQuestionTokens;
      tooLong.push({ loc: question.loc, what: "state and question", maxTokens, actual });
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

/** Size of the cache. Chosen: a thousand of the longest states, or about 20,000 labels. */
const MAX_BYTES = 8 * 2 ** 20;
/** Overhead of an entry: array, buffer, key and place in the map. Measured with Node 20: 370. */
const ENTRY_BYTES = 400;
/** Maximum UTF-16 code units of a request that are looked up; longer texts are never cached. Hashing them takes 0.5 ms of the main thread. Chosen: ordinary requests have fewer. */
const LOOKED_UP_UNITS = 131_072;

/**
 * Caches the tokens of recent texts. States are asked about again, labels and questions come with every request, and
 * tokenizing 1,000 tokens takes up to 3 ms. In memory only, by SHA-256: no text is stored.
 */
export class RecentParts implements PartEncoder {
  readonly #encoder: PartEncoder;
  readonly #tokens = new LRUCache<string, Int32Array>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + ENTRY_BYTES,
  });

  #hits = 0;
  #misses = 0;

  constructor(encoder: PartEncoder) {
    this.#encoder = encoder;
  }

  async encodeParts(
    parts: readonly TextPart[],
    options: { readonly maxTooMany: number; readonly signal: AbortSignal },
  ): Promise<readonly (Int32Array | TooManyTokens)[]> {
    options.signal.throwIfAborted();
    let room = LOOKED_UP_UNITS;
    const lookups = parts.map((part): Lookup => {
      room -= part.text.length;
      return room >= 0 ? this.#lookUp(part) : { part, key: undefined, tokens: undefined };
    });
    const missing = lookups.filter(({ tokens }) => tokens === undefined);
    this.#hits += lookups.length - missing.length;
    this.#misses += missing.length;
    if (missing.length > 0) await this.#encode(missing, options);
    // the encoder may have stopped early: only parts before the first missing one are returned
    const end = lookups.findIndex(({ tokens }) => tokens === undefined);
    return lookups.slice(0, end < 0 ? lookups.length : end).flatMap(({ tokens }) => tokens ?? []);
  }

  get counters(): TextCacheCounters {
    return { hits: this.#hits, misses: this.#misses };
  }

  has(part: Pick<TextPart, "role" | "text">): boolean {
    return part.text.length <= LOOKED_UP_UNITS && this.#tokens.has(keyOf(part));
  }

  #lookUp(part: TextPart): Lookup {
    const key = keyOf(part);
    const known = this.#tokens.get(key);
    return { part, key, tokens: known !== undefined && known.length <= part.maxTokens ? known : undefined };
  }

  async #encode(
    lookups: readonly Lookup[],
    options: { readonly maxTooMany: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const parts = lookups.map(({ part }) => part);
    const encoded = await this.#encoder.encodeParts(parts, options);
    for (const [at, tokens] of encoded.entries()) {
      const lookup = lookups[at];
      if (lookup === undefined) continue;
      lookup.tokens = tokens;
      if (lookup.key !== undefined && tokens instanceof Int32Array) this.#tokens.set(lookup.key, tokens);
    }
  }
}

interface Lookup {
  readonly part: TextPart;
  readonly key: string | undefined;
  tokens: Int32Array | TooManyTokens | undefined;
}

/** Digest of a role and a text. */
function keyOf({ role, text }: Pick<TextPart, "role" | "text">): string {
  return role + sha256(text);
}
