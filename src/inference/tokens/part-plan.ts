import { LRUCache } from "lru-cache";
import type { RenderedRequest, RenderedText, TextTokens } from "../../decisions/request.ts";
import { MAX_ISSUES } from "../../errors.ts";
import { type Node, nodeBelow, sha256 } from "../nodes.ts";
import type { LibraryEncoder } from "./library-encoder.ts";
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
export interface TextPart {
  readonly role: TextRole;
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
}

/** The special tokens around the parts of each role. */
export type PartFrames = Readonly<
  Record<TextRole, { readonly before: readonly number[]; readonly after: readonly number[] }>
>;

/** An encoder that puts special tokens around the tokens of another one. */
export function framed(encoder: PartEncoder, frames: PartFrames): PartEncoder {
  const roomOf = ({ role }: TextPart) => frames[role].before.length + frames[role].after.length;
  return {
    async encodeParts(parts, options) {
      const inner = parts.map((part) => ({ ...part, maxTokens: part.maxTokens - roomOf(part) }));
      const encoded = await encoder.encodeParts(inner, options);
      return encoded.map((tokens, at) => {
        const part = parts[at] as TextPart; // one for each
        const { before, after } = frames[part.role];
        if (tokens instanceof Int32Array) return Int32Array.from([...before, ...tokens, ...after]);
        return { ...tokens, count: tokens.count + roomOf(part) };
      });
    },
  };
}

/** For models that tokenize state, question and candidate separately. */
export class PartTokenizer implements Tokenizer {
  readonly #library: LibraryEncoder;
  readonly #frames: PartFrames;
  readonly #recent: RecentParts;

  constructor(library: LibraryEncoder, frames: PartFrames) {
    this.#library = library;
    this.#frames = frames;
    this.#recent = new RecentParts(framed(library, frames));
  }

  readTexts(texts: readonly string[]): Promise<readonly TextTokens[]> {
    return this.#library.readTexts(texts);
  }

  /** Equal texts in the same role are tokenized once. */
  encodeRequest(request: RenderedRequest, limits: TokenLimits, signal: AbortSignal): Promise<EncodedRequest> {
    return encodeByParts(request, limits, this.#recent, signal);
  }

  textCache(): TextCacheCounters {
    return this.#recent.counters;
  }

  isCached(role: TextRole, text: string): boolean {
    return this.#recent.has({ role, text });
  }

  async spell(role: TextRole, text: string, ids: Int32Array): Promise<readonly SpelledToken[]> {
    const sources = await this.#library.sourcesOf(text);
    const begin = this.#frames[role].before.length;
    return this.#library.spell(ids).map((token, at) => ({ ...token, source: sources[at - begin] }));
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
  readonly #maxTokens: Readonly<Record<TextRole, number>>;
  readonly #indexes: Readonly<Record<TextRole, Map<string, number>>> = {
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

  add(role: TextRole, { text, loc }: RenderedText): PlacedPart {
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
    const keys = parts.map((part) => {
      room -= part.text.length;
      return room >= 0 ? keyOf(part) : undefined;
    });
    const found = parts.map(({ maxTokens }, at): Int32Array | TooManyTokens | undefined => {
      const known = this.#tokens.get(keys[at] ?? "");
      return known !== undefined && known.length <= maxTokens ? known : undefined;
    });
    const missing = [...parts.entries()].filter(([at]) => found[at] === undefined);
    this.#hits += parts.length - missing.length;
    this.#misses += missing.length;
    const asked = missing.map(([, part]) => part);
    const encoded = asked.length === 0 ? [] : await this.#encoder.encodeParts(asked, options);
    for (const [i, tokens] of encoded.entries()) {
      const at = missing[i]?.[0] ?? -1;
      const key = keys[at];
      found[at] = tokens;
      if (key !== undefined && tokens instanceof Int32Array) this.#tokens.set(key, tokens);
    }
    // the encoder may have stopped early: only parts before the first missing one are returned
    const end = found.indexOf(undefined);
    return found.slice(0, end < 0 ? parts.length : end).flatMap((tokens) => tokens ?? []);
  }

  get counters(): TextCacheCounters {
    return { hits: this.#hits, misses: this.#misses };
  }

  has(part: Pick<TextPart, "role" | "text">): boolean {
    return part.text.length <= LOOKED_UP_UNITS && this.#tokens.has(keyOf(part));
  }
}

/** Digest of a role and a text. */
function keyOf({ role, text }: Pick<TextPart, "role" | "text">): string {
  return role + sha256(text);
}
