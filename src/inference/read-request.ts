import type { RenderedRequest, RenderedText } from "../decisions/request.ts";
import { type Node, nodeBelow, pathLength, stateOf } from "./nodes.ts";
import { planRequest } from "./plan.ts";
import type { SpelledToken, TextRole, Tokenizer, TokenLimits } from "./tokens/tokenizer.ts";

/** The tokens of a text. */
export interface ReadText {
  readonly tokens: readonly SpelledToken[];
  /** Whether its tokens were cached by an earlier request; undefined without a cache. */
  readonly wasCached?: boolean | undefined;
}

/** The tokens of a request, in its order. If pairs differ in the tokens of their state or question, those of the first pair. */
export interface ReadRequest {
  readonly state: ReadText;
  readonly questions: readonly {
    readonly question: ReadText;
    /** Undefined for models that read a pair as a whole, of which no part is state and question. */
    readonly stateQuestionTokens: number | undefined;
    readonly candidates: readonly (ReadText & { readonly pairTokens: number })[];
  }[];
}

const NO_NODE = nodeBelow(undefined, new Int32Array(0));

/** The tokens of a request in a readable form. @throws ServiceError as `planRequest` */
export async function readRequest(
  request: RenderedRequest,
  limits: TokenLimits,
  tokenizer: Tokenizer,
  signal: AbortSignal,
): Promise<ReadRequest> {
  const cached = cachedTexts(request, tokenizer); // before tokenizing, which fills the cache
  const plan = await planRequest(request, limits, tokenizer, signal);
  const read = async (role: TextRole, { text }: RenderedText, { tokens }: Node): Promise<ReadText> => {
    signal.throwIfAborted();
    return { tokens: await tokenizer.spell(role, text, tokens), wasCached: cached.get(role + text) };
  };
  const questions: ReadRequest["questions"][number][] = [];
  for (const [at, { question, candidates }] of request.questions.entries()) {
    const leaves = plan[at] ?? [];
    const questionNode = leaves[0]?.parent ?? NO_NODE;
    const readCandidates: ReadRequest["questions"][number]["candidates"][number][] = [];
    for (const [position, candidate] of candidates.entries()) {
      const leaf = leaves[position] ?? NO_NODE;
      readCandidates.push({ ...(await read("candidate", candidate, leaf)), pairTokens: pathLength(leaf) });
    }
    questions.push({
      question: await read("question", question, questionNode),
      stateQuestionTokens: stateOf(questionNode).tokens.length > 0 ? pathLength(questionNode) : undefined,
      candidates: readCandidates,
    });
  }
  return { state: await read("state", request.state, stateOf(plan[0]?.[0] ?? NO_NODE)), questions };
}

/** Whether the tokens of each text are cached now, by role and text. */
function cachedTexts(
  { state, questions }: RenderedRequest,
  tokenizer: Tokenizer,
): ReadonlyMap<string, boolean | undefined> {
  const cached = new Map<string, boolean | undefined>();
  const look = (role: TextRole, { text }: RenderedText) =>
    cached.set(role + text, tokenizer.isCached?.(role, text));
  look("state", state);
  for (const { question, candidates } of questions) {
    look("question", question);
    for (const candidate of candidates) look("candidate", candidate);
  }
  return cached;
}
