import type { RenderedRequest } from "../../../src/decisions/request.ts";
import type { ScoredRequest } from "../../../src/inference/engine.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { tokens } from "./planting.ts";
import { inner } from "./tree.ts";

const SPECIAL_TOKENS =
  "The number of special tokens of a pair, and that token limits and `input_tokens` count them.";
const pairsOf = ({ scores }: ScoredRequest) => scores.reduce((sum, { length }) => sum + length, 0);
const textOf = ({ state, questions }: RenderedRequest) =>
  JSON.stringify([
    state.text,
    questions.map(({ question, candidates }) => [question.text, candidates.map(({ text }) => text)]),
  ]);
const countedFirst = new Map<string, number>();
const seen = new Set<string>();

/** Wrong token counts. */
export const USAGE_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "at most 4,096 tokens counted: usage.many-pairs": tokens(({ inputTokens }) =>
      Math.min(inputTokens, 4096),
    ),
    "the count of an earlier request with the same state: usage.each-length": tokens((scored, { state }) => {
      const key = `${pairsOf(scored)} ${state.text}`;
      const count = countedFirst.get(key) ?? scored.inputTokens;
      countedFirst.set(key, count);
      return count;
    }),
    "a request that came before counted as cached, with the cache off: usage.cache-off": on.scores(
      (scored, request) => {
        const text = textOf(request);
        const isKnown = seen.has(text);
        seen.add(text);
        return isKnown ? { ...scored, inputTokens: 0, cachedPairs: pairsOf(scored) } : scored;
      },
    ),
  }),
  ...faults(
    {
      "a token less for each pair where the state is blank": tokens(
        (scored, { state }) => scored.inputTokens - (state.text === "" ? pairsOf(scored) : 0),
      ),
      "three tokens more for each pair": tokens(
        (scored) => scored.inputTokens + 3 * (pairsOf(scored) - scored.cachedPairs),
      ),
    },
    { unobserved: SPECIAL_TOKENS },
  ),
  ...faults(
    {
      // an answer with cached pairs is needed, which others get only by chance
      "total_tokens with the cached pairs: systemone.every-answer": on.answer((body) => {
        const usage = inner(body, "usage");
        if (usage.size > 0)
          usage.set("total_tokens", Number(usage.get("input_tokens")) + Number(usage.get("cached_pairs")));
      }),
    },
    {
      only: [
        "systemone.every-answer",
        "usage.cached-pairs",
        "usage.total",
        "usage.additive",
        "systemone.usage",
      ],
    },
  ),
];
