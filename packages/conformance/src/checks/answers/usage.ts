import { at, toPlain } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { CONTRACT_LIMITS } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { choiceOf, freshState, NOULS, scoredOf, scoreOf, sizesOf, texts } from "../scored.ts";

interface Usage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cached: number;
}

/** Checks of the counts in `usage`. */
export const USAGE_CHECKS: readonly Check[] = [
  defineCheck({
    id: "usage.total",
    clause: "`output_tokens` is 0 and `total_tokens` is the sum of both counts.",
    source: "contract: Usage",
    expected: "0, and `total_tokens` = `input_tokens`, from both operations",
    run: async (trial: Trial) => {
      const inferences = [
        await trial.infer(SYSTEMONE, { state: freshState(), questions: { q: NOULS[0] } }),
        await trial.infer(RANK, { state: freshState(), candidates: ["a", "b", "c"] }),
      ];
      for (const inferred of inferences) {
        const { input, output, total } = usageOf(trial, inferred);
        trial.expect(output === 0 && total === input, `${input} + ${output} = ${total}`, inferred);
        trial.expect(input > 0, "0 input_tokens for new pairs", inferred);
      }
    },
  }),
  defineCheck({
    id: "usage.additive",
    clause:
      "`input_tokens` counts each pair at its full length: the count of a request is the sum over its parts.",
    source: "contract: Usage",
    expected: "as many tokens for two questions, or four candidates, as for their parts in separate requests",
    run: async (trial: Trial) => {
      const state = freshState();
      const [one, other] = [
        scoreOf(["calm now", "angry"], "How angry?"),
        scoreOf(["x", "y y", "z z z"], "How long?"),
      ];
      const [a, b] = [await tokens(trial, { one }, state), await tokens(trial, { other }, state)];
      const { count, cached, inferred } = await counted(trial, SYSTEMONE, {
        state,
        questions: { one, other },
      });
      if (cached > 0) trial.skip("pairs came from a score cache: see usage.cached-pairs");
      trial.expect(count === a + b, `${count} for both questions, ${a} and ${b} alone`, inferred);
      const parts = [
        ["ein", "two words"],
        ["three words here", "x"],
      ];
      const alone = [];
      for (const candidates of parts) alone.push((await counted(trial, RANK, { state, candidates })).count);
      const all = await counted(trial, RANK, { state, candidates: parts.flat() });
      const sum = alone.reduce((x, y) => x + y, 0);
      trial.expect(
        all.count === sum,
        `${all.count} for four candidates, ${alone.join(" and ")} in pairs`,
        all.inferred,
      );
    },
  }),
  defineCheck({
    id: "usage.nothing-shared",
    clause: "`input_tokens` counts the state once per pair, as if pairs shared nothing.",
    source: "contract: Usage",
    expected: "a longer state adds twice as many tokens for four candidates as for two",
    run: async (trial: Trial) => {
      const grown = " and so on".repeat(20);
      const growth = async (candidates: readonly string[]) => {
        const state = freshState().slice(0, -1);
        const short = await counted(trial, RANK, { state, candidates });
        const long = await counted(trial, RANK, { state: `${state}${grown}`, candidates });
        return long.count - short.count;
      };
      const ofTwo = await growth(["one", "two"]);
      const ofFour = await growth(["one", "two", "three", "four"]);
      trial.expect(ofTwo > 0 && ofFour === 2 * ofTwo, `${ofTwo} more for two candidates, ${ofFour} for four`);
    },
  }),
  defineCheck({
    id: "usage.each-length",
    clause: "Each pair counts with its own length: padding does not count.",
    source: "contract: Usage",
    expected: "as many tokens for pairs of all lengths and types in one request as in separate requests",
    run: checkLengths,
  }),
  defineCheck({
    id: "usage.many-pairs",
    clause: "Every pair counts, up to the largest number.",
    source: "contract: Usage",
    expected: `as many tokens for ${CONTRACT_LIMITS.maxPairs} pairs as for each ${CONTRACT_LIMITS.maxCandidates} of them alone`,
    isGentle: false,
    run: async (trial: Trial) => {
      const state = `${freshState()} ${"and so on ".repeat(6)}`;
      const { maxPairs, maxCandidates } = trial.facts.limits;
      const all = Object.fromEntries(
        sizesOf(maxPairs, maxCandidates).map((size, part) => [
          `q${part}`,
          scoreOf(texts(size), `Which level is part ${part}?`),
        ]),
      );
      const together = await counted(trial, SYSTEMONE, { state, questions: all });
      const alone = [];
      for (const [name, one] of Object.entries(all))
        alone.push(await uncached(trial, SYSTEMONE, { state, questions: { [name]: one } }));
      expectSum(trial, together, alone, "questions");
    },
  }),
  defineCheck({
    id: "usage.steps",
    clause: "The count grows with each word of a pair.",
    source: "contract: Usage",
    expected: "equally many tokens for each additional word of a candidate",
    run: checkSteps,
  }),
  defineCheck({
    id: "usage.side-by-side",
    clause: "`input_tokens` counts the pairs of its own request only, whatever else is in the batch.",
    source: "contract: Usage",
    expected: "the same counts for concurrent requests as for each alone",
    run: checkSideBySide,
  }),
  defineCheck({
    id: "usage.both-operations",
    clause: "A ranking and a rubric of the same texts have the same pairs.",
    source: "contract: Texts, Usage",
    expected: "as many tokens for `rank` as for a `score` question with the same texts",
    run: async (trial: Trial) => {
      const levels = ["can wait", "this week", "today"];
      const state = freshState();
      const ranked = await counted(trial, RANK, { state, question: "How urgent is it?", candidates: levels });
      const asked = await trial.infer(SYSTEMONE, { state, questions: { q: scoreOf(levels) } });
      const usage = usageOf(trial, asked);
      if (usage.cached > 0) return; // its cache recognized the same pairs, which also satisfies the clause
      trial.expect(
        usage.input === ranked.count,
        `${usage.input} tokens, and ${ranked.count} for the ranking`,
        asked,
      );
    },
  }),
  defineCheck({
    id: "usage.cached-pairs",
    clause:
      "Pairs whose score comes from an equal pair or from the score cache count in `cached_pairs` and add no tokens.",
    source: "contract: Usage",
    expected: "tokens of exactly the pairs that were not cached; equal answers",
    run: async (trial: Trial) => {
      const same = scoreOf(["red", "dog"], "Which one?");
      const state = freshState();
      const one = usageOf(trial, await trial.infer(SYSTEMONE, { state, questions: { a: same } }));
      const inferred = await trial.infer(SYSTEMONE, { state, questions: { a: same, b: same, c: same } });
      const usage = usageOf(trial, inferred);
      trial.expect(one.cached === 0, `${one.cached} cached pairs of a new state`, inferred);
      // at least two pairs have to be scored, unless a score cache still has them from the previous request
      const most = at(trial.facts.health.json, "cache_size") === 0 ? 4 : 6;
      trial.expect(
        usage.cached <= most && usage.input === (one.input * (6 - usage.cached)) / 2,
        `${usage.input} tokens and ${usage.cached} cached pairs for three times two pairs of ${one.input} tokens`,
        inferred,
      );
      const answers = ["a", "b", "c"].map((name) =>
        JSON.stringify(toPlain(scoredOf(trial, inferred, name).answer)),
      );
      trial.expect(new Set(answers).size === 1, "equal questions with different answers", inferred);
    },
  }),
  defineCheck({
    id: "usage.cache-off",
    clause: "The score cache is off unless the operator turns it on.",
    source: "interface: Scores and probabilities",
    expected: "no cached pairs for a repeated request if /health reports no cache",
    run: async (trial: Trial) => {
      const size = at(trial.facts.health.json, "cache_size");
      if (size !== 0) trial.skip("/health does not report whether the cache is off");
      const body = { state: freshState(), candidates: ["one", "two"] };
      const first = usageOf(trial, await trial.infer(RANK, body));
      const inferred = await trial.infer(RANK, body);
      const again = usageOf(trial, inferred);
      trial.expect(
        again.cached === 0 && again.input === first.input,
        `${again.cached} cached pairs, ${again.input} tokens after ${first.input}`,
        inferred,
      );
    },
  }),
];

function usageOf(trial: Trial, { json }: Inferred): Usage {
  const [input, output, total, cached] = [
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_pairs",
  ].map((name) => at(json, "usage", name));
  if (
    typeof input !== "number" ||
    typeof output !== "number" ||
    typeof total !== "number" ||
    typeof cached !== "number"
  )
    trial.skip("no usage to check: see systemone.usage");
  return { input, output, total, cached };
}

/** Sends a request and returns its tokens. @throws CannotTell if pairs came from a cache */
export async function counted(trial: Trial, path: string, body: unknown) {
  return countIn(trial, await trial.infer(path, body));
}

/** The token counts of an answer. */
export function countIn(trial: Trial, inferred: Inferred) {
  const { input, cached } = usageOf(trial, inferred);
  return { count: input, cached, inferred };
}

async function tokens(trial: Trial, questions: unknown, state: string): Promise<number> {
  return (await counted(trial, SYSTEMONE, { state, questions })).count;
}

/** Different lengths of candidates, in words. */
const LENGTHS = [1, 2, 3, 5, 9, 17, 40];
/** Words that are one token to many tokenizers. */
const STEP_WORDS = ["go", "a", "the", "1"];
/** More words than the step of any padding (2 to 16 tokens). Chosen. */
const STEPS = 18;

async function checkLengths(trial: Trial): Promise<void> {
  const state = freshState();
  const long = (count: number) => Array.from({ length: count }, (_, index) => `word ${index}`).join(" ");
  const questions: Readonly<Record<string, unknown>> = {
    short: scoreOf(["x", "y"]),
    ...Object.fromEntries(
      LENGTHS.map((length) => [`n${length}`, { type: "noul", instructions: `Is it ${long(length)}?` }]),
    ),
    described: { type: "noul", instructions: "So?", criteria: { true: long(12), false: "no" } },
    levels: scoreOf(LENGTHS.map(long)),
    labels: choiceOf(
      Object.fromEntries(LENGTHS.map((length) => [`l${length}`, long(length)])),
      "Which length?",
    ),
  };
  const together = await counted(trial, SYSTEMONE, { state, questions });
  const alone = [];
  for (const [name, question] of Object.entries(questions))
    alone.push(await uncached(trial, SYSTEMONE, { state, questions: { [name]: question } }));
  expectSum(trial, together, alone, "questions");
  const candidates = LENGTHS.map((length) => `${long(length)}.`);
  const ranked = await counted(trial, RANK, { state, candidates });
  const pairs = [];
  for (const text of candidates)
    pairs.push(
      await uncached(trial, RANK, { state, candidates: [text, `${text} and a pair that is made up`] }),
    );
  const others = candidates.map((text) => `${text} and a pair that is made up`);
  const rest = await uncached(trial, RANK, { state, candidates: others });
  expectSum(trial, { ...ranked, count: ranked.count + rest.count }, pairs, "candidates");
}

/** The token count of a request. @throws CannotTell if a pair came from a cache */
async function uncached(trial: Trial, path: string, body: unknown) {
  const found = await counted(trial, path, body);
  if (found.cached > 0) trial.skip("pairs came from a score cache: see usage.cached-pairs");
  return found;
}

type Counted = Awaited<ReturnType<typeof counted>>;

function expectSum(trial: Trial, whole: Counted, parts: readonly Counted[], what: string): void {
  const counts = parts.map(({ count }) => count);
  const sum = counts.reduce((x, y) => x + y, 0);
  trial.expect(
    whole.count === sum,
    `${whole.count} tokens for all ${what}, ${counts.join(" + ")} = ${sum} for their parts`,
    whole.inferred,
  );
}

async function checkSteps(trial: Trial): Promise<void> {
  const tried: string[] = [];
  for (const word of STEP_WORDS) {
    const counts: number[] = [];
    const state = freshState();
    for (let words = 1; words <= STEPS; words += 1) {
      const text = Array.from({ length: words }, () => word).join(" ");
      counts.push((await counted(trial, RANK, { state, candidates: [text, `other ${words} thing`] })).count);
    }
    const steps = counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
    // the first words may have more tokens than later ones: most steps must be equal
    const usual = steps.toSorted((x, y) => x - y)[STEPS >> 1] ?? 0;
    if (usual > 0 && steps.filter((step) => step === usual).length >= STEPS - 4) return;
    tried.push(`${word}: ${counts.join(", ")}`);
  }
  trial.fail(`tokens of candidates of 1 to ${STEPS} words: ${tried[0]}`);
}

async function checkSideBySide(trial: Trial): Promise<void> {
  const state = freshState();
  const bodies = LENGTHS.map((length) => ({
    state: `${state} ${"and so on ".repeat(length)}`,
    candidates: [`one ${length}`, `two ${length}`],
  }));
  const together = await Promise.all(bodies.map((body) => counted(trial, RANK, body)));
  for (const [index, body] of bodies.entries()) {
    const alone = await uncached(trial, RANK, body);
    const count = together[index]?.count;
    trial.expect(
      count === alone.count,
      `${count} beside others, ${alone.count} alone`,
      together[index]?.inferred,
    );
  }
}
