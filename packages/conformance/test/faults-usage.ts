import { REQUEST_LIMITS } from "../../../src/decisions/limits.ts";
import type { RenderedRequest } from "../../../src/decisions/rendered.ts";
import type { ScoredRequest } from "../../../src/inference/ports.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { tokens } from "./planting.ts";
import { inner } from "./tree.ts";

const { maxCandidates } = REQUEST_LIMITS;

const SPECIAL_TOKENS =
  "The number of special tokens of a pair, and that token limits and `input_tokens` count them.";
const pairsOf = ({ scores }: ScoredRequest) => scores.reduce((sum, { length }) => sum + length, 0);
const words = (text: string) => text.split(/\s+/).length;
const textOf = ({ state, questions }: RenderedRequest) =>
  JSON.stringify([
    state.text,
    questions.map(({ question, candidates }) => [question.text, candidates.map(({ text }) => text)]),
  ]);
const countedFirst = new Map<string, number>();
const seen = new Set<string>();

/** Wrong token counts. */
export const USAGE_FAULTS: readonly PlantedFault[] = [
  {
    name: "two tokens more for each yes/no question",
    fault: tokens(
      ({ inputTokens }, { questions }) =>
        inputTokens + 2 * questions.filter(({ candidates }) => candidates[1]?.label === "true").length,
    ),
    fails: ["texts.noul-bare", "texts.noul-default", "texts.noul-described", "texts.noul-half"],
  },
  {
    name: "a token less for each pair where the state is blank",
    fault: tokens((scored, { state }) => scored.inputTokens - (state.text === "" ? pairsOf(scored) : 0)),
    fails: [],
    unobserved: SPECIAL_TOKENS,
  },
  {
    name: "pairs past those of one question not counted",
    fault: tokens((scored) =>
      pairsOf(scored) > maxCandidates
        ? Math.round((scored.inputTokens / pairsOf(scored)) * maxCandidates)
        : scored.inputTokens,
    ),
    fails: ["usage.many-pairs"],
  },
  {
    name: "at most 4,096 tokens counted",
    fault: tokens(({ inputTokens }) => Math.min(inputTokens, 4096)),
    fails: ["usage.many-pairs"],
  },
  {
    name: "a token for four characters",
    fault: tokens((_, { state, questions }) =>
      questions.reduce(
        (sum, { question, candidates }) =>
          sum +
          candidates.reduce(
            (all, { text }) =>
              all + Math.ceil((state.text.length + question.text.length + text.length) / 4) + 1,
            0,
          ),
        0,
      ),
    ),
    fails: ["usage.cached-pairs"],
  },
  {
    name: "the count of an earlier request with the same state",
    fault: tokens((scored, { state }) => {
      const key = `${pairsOf(scored)} ${state.text}`;
      const count = countedFirst.get(key) ?? scored.inputTokens;
      countedFirst.set(key, count);
      return count;
    }),
    fails: ["usage.additive", "usage.each-length", "usage.steps"],
  },
  {
    name: "instructions counted once for all candidates",
    fault: tokens(({ inputTokens }, { questions }) =>
      Math.max(
        1,
        questions.reduce(
          (left, { question, candidates }) => left - (candidates.length - 1) * words(question.text),
          inputTokens,
        ),
      ),
    ),
    fails: ["usage.additive", "usage.cached-pairs", "usage.each-length"],
  },
  {
    name: "three tokens more for each pair",
    fault: tokens((scored) => scored.inputTokens + 3 * (pairsOf(scored) - scored.cachedPairs)),
    fails: [],
    unobserved: SPECIAL_TOKENS,
  },
  {
    name: "total_tokens with the cached pairs",
    fault: {
      answer: (body) => {
        const usage = inner(body, "usage");
        if (usage.size > 0)
          usage.set("total_tokens", Number(usage.get("input_tokens")) + Number(usage.get("cached_pairs")));
      },
    },
    fails: ["systemone.every-answer"],
    // an answer with cached pairs is needed, which others get only by chance
    only: [
      "systemone.every-answer",
      "usage.cached-pairs",
      "usage.total",
      "usage.additive",
      "systemone.usage",
    ],
  },
  {
    name: "cached pairs counted twice",
    fault: { scores: (scored) => ({ ...scored, cachedPairs: 2 * scored.cachedPairs }) },
    fails: ["usage.cached-pairs"],
  },
  {
    name: "a request that came before counted as cached, with the cache off",
    fault: {
      scores: (scored, request) => {
        const text = textOf(request);
        const isKnown = seen.has(text);
        seen.add(text);
        return isKnown ? { ...scored, inputTokens: 0, cachedPairs: pairsOf(scored) } : scored;
      },
    },
    fails: ["usage.cache-off"],
  },
];
