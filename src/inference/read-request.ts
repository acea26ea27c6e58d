import type { RenderedRequest, RenderedText } from "../decisions/rendered.ts";
import { planRequest } from "./plan.ts";
import type { ReadRequest, ReadText, TextRole, Tokenizer, TokenLimits, TokenPath } from "./ports.ts";

const NO_TOKENS = new Int32Array(0);
const NO_PATH: TokenPath = { state: NO_TOKENS, question: NO_TOKENS, candidate: NO_TOKENS };

/** The tokens of a request in a readable form. @throws ServiceError as `planRequest` */
export async function readRequest(
  request: RenderedRequest,
  limits: TokenLimits,
  tokenizer: Tokenizer,
  signal: AbortSignal,
): Promise<ReadRequest> {
  const kept = keptTexts(request, tokenizer); // before tokenizing, which fills the cache
  const plan = await planRequest(request, limits, tokenizer, signal);
  const read = async (role: TextRole, { text }: RenderedText, path: TokenPath): Promise<ReadText> => {
    signal.throwIfAborted();
    return { tokens: await tokenizer.spell(role, text, path[role]), wasKept: kept.get(role + text) };
  };
  const questions: ReadRequest["questions"][number][] = [];
  for (const [at, { question, candidates }] of request.questions.entries()) {
    const [first = NO_PATH, ...others] = plan[at] ?? [];
    const paths = [first, ...others];
    const readCandidates: ReadRequest["questions"][number]["candidates"][number][] = [];
    for (const [position, candidate] of candidates.entries()) {
      const path = paths[position] ?? NO_PATH;
      const pairTokens = path.state.length + path.question.length + path.candidate.length;
      readCandidates.push({ ...(await read("candidate", candidate, path)), pairTokens });
    }
    questions.push({
      question: await read("question", question, first),
      stateQuestionTokens: first.state.length + first.question.length,
      candidates: readCandidates,
    });
  }
  return { state: await read("state", request.state, plan[0]?.[0] ?? NO_PATH), questions };
}

/** Whether the tokens of each text are cached now, by role and text. */
function keptTexts(
  { state, questions }: RenderedRequest,
  tokenizer: Tokenizer,
): ReadonlyMap<string, boolean | undefined> {
  const kept = new Map<string, boolean | undefined>();
  const note = (role: TextRole, { text }: RenderedText) =>
    kept.set(role + text, tokenizer.isKept?.(role, text));
  note("state", state);
  for (const { question, candidates } of questions) {
    note("question", question);
    for (const candidate of candidates) note("candidate", candidate);
  }
  return kept;
}
