import { at, toPlain } from "../../client/json.ts";
import { type Check, checksOf } from "../../trial/check.ts";
import { CONTRACT_LIMITS } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { choiceOf, freshState, isNumbers, NOULS, scoredOf, scoreOf, sizesOf, sum, texts } from "../scored.ts";

/** Checks of the counts in `usage`. */
export const USAGE_CHECKS: readonly Check[] = [
  ...checksOf("contract: Usage", {
    "usage.total": {
      clause: "`output_tokens` is 0 and `total_tokens` is the sum of both counts.",
      expected: "0, and `total_tokens` = `input_tokens`, from both operations",
      run: async (trial: Trial) => {
        for (const inferred of [
          await trial.infer(SYSTEMONE, { state: freshState(), questions: { q: NOULS[0] } }),
          await trial.infer(RANK, { state: freshState(), candidates: ["a", "b", "c"] }),
        ]) {
          const { input, output, total } = usageOf(trial, inferred);
          trial.expect(output === 0 && total === input, `${input} + ${output} = ${total}`, inferred);
          trial.expect(input > 0, "0 input_tokens for new pairs", inferred);
        }
      },
    },
    "usage.additive": {
      clause:
        "`input_tokens` counts each pair at its full length: the count of a request is the sum over its parts.",
      expected:
        "as many tokens for two questions, or four candidates, as for their parts in separate requests",
      run: async (trial) => {
        const state = freshState();
        const one = scoreOf(["calm now", "angry"], "How angry?");
        await expectSum(trial, state, { one, other: scoreOf(["x", "y y", "z z z"], "How long?") });
        const parts = [
          ["ein", "two words"],
          ["three words here", "x"],
        ];
        const alone = [];
        for (const candidates of parts) alone.push(await counted(trial, RANK, { state, candidates }));
        const whole = await counted(trial, RANK, { state, candidates: parts.flat() });
        compareSum(trial, whole, alone);
      },
    },
    "usage.nothing-shared": {
      clause: "`input_tokens` counts the state once per pair, as if pairs shared nothing.",
      expected: "a longer state adds twice as many tokens for four candidates as for two",
      run: async (trial: Trial) => {
        const growth = async (candidates: readonly string[]) => {
          const state = freshState().slice(0, -1);
          const short = await counted(trial, RANK, { state, candidates });
          const long = await counted(trial, RANK, { state: state + " and so on".repeat(20), candidates });
          return long.count - short.count;
        };
        const ofTwo = await growth(["one", "two"]);
        const ofFour = await growth(["one", "two", "three", "four"]);
        const isTwice = ofTwo > 0 && ofFour === 2 * ofTwo;
        trial.expect(isTwice, `${ofTwo} more for two candidates, ${ofFour} for four`);
      },
    },
    "usage.each-length": {
      clause: "Each pair counts with its own length: padding does not count.",
      expected: "as many tokens for pairs of all lengths and types in one request as in separate requests",
      run: checkLengths,
    },
    "usage.many-pairs": {
      clause: "Every pair counts, up to the largest number.",
      expected: `as many tokens for ${CONTRACT_LIMITS.maxPairs} pairs as for each ${CONTRACT_LIMITS.maxCandidates} of them alone`,
      isGentle: false,
      run: (trial) => {
        const { maxPairs, maxCandidates } = trial.facts.limits;
        const questions = sizesOf(maxPairs, maxCandidates).map((size, part) => [
          `q${part}`,
          scoreOf(texts(size), `Which level is part ${part}?`),
        ]);
        const state = `${freshState()} ${"and so on ".repeat(6)}`;
        return expectSum(trial, state, Object.fromEntries(questions));
      },
    },
    "usage.steps": {
      clause: "The count grows with each word of a pair.",
      expected: "equally many tokens for each additional word of a candidate",
      run: checkSteps,
    },
    "usage.side-by-side": {
      clause: "`input_tokens` counts the pairs of its own request only, whatever else is in the batch.",
      expected: "the same counts for concurrent requests as for each alone",
      run: async (trial) => {
        const state = freshState();
        const bodies = LENGTHS.map((length) => ({
          state: `${state} ${"and so on ".repeat(length)}`,
          candidates: [`one ${length}`, `two ${length}`],
        }));
        const together = await Promise.all(bodies.map((body) => counted(trial, RANK, body)));
        for (const [index, body] of bodies.entries()) {
          const { count } = await uncached(trial, RANK, body);
          trial.equal("the count beside others", together[index]?.count, count, together[index]?.inferred);
        }
      },
    },
    "usage.cached-pairs": {
      clause:
        "Pairs whose score comes from an equal pair or from the score cache count in `cached_pairs` and add no tokens.",
      expected: "tokens of exactly the pairs that were not cached; equal answers",
      run: async (trial: Trial) => {
        const same = scoreOf(["red", "dog"], "Which one?");
        const state = freshState();
        const one = usageOf(trial, await trial.infer(SYSTEMONE, { state, questions: { a: same } }));
        const inferred = await trial.infer(SYSTEMONE, { state, questions: { a: same, b: same, c: same } });
        const { input, cached } = usageOf(trial, inferred);
        trial.expect(one.cached === 0, `${one.cached} cached pairs of a new state`, inferred);
        // at least two pairs have to be scored, unless a score cache still has them from the previous request
        const most = at(trial.facts.health.json, "cache_size") === 0 ? 4 : 6;
        // of an odd number of pairs, one is left over, whose length is unknown
        const rest = input - one.input * Math.floor((6 - cached) / 2);
        const isRest = cached % 2 === 0 ? rest === 0 : rest > 0 && rest < one.input;
        trial.expect(
          cached <= most && isRest,
          `${input} tokens and ${cached} cached pairs for three times two pairs of ${one.input} tokens`,
          inferred,
        );
        const answers = ["a", "b", "c"].map((name) =>
          JSON.stringify(toPlain(scoredOf(trial, inferred, name).answer)),
        );
        trial.expect(new Set(answers).size === 1, "equal questions with different answers", inferred);
      },
    },
  }),
  ...checksOf("contract: Texts, Usage", {
    "usage.both-operations": {
      clause: "A ranking and a rubric of the same texts have the same pairs.",
      expected: "as many tokens for `rank` as for a `score` question with the same texts",
      run: async (trial) => {
        const candidates = ["can wait", "this week", "today"];
        const state = freshState();
        const ranked = await counted(trial, RANK, { state, question: "How urgent is it?", candidates });
        const asked = await counted(trial, SYSTEMONE, { state, questions: { q: scoreOf(candidates) } });
        if (asked.cached > 0) return; // its cache recognized the same pairs, which also satisfies the clause
        trial.equal("the count", asked.count, ranked.count, asked.inferred);
      },
    },
  }),
  ...checksOf("interface: Scores and probabilities", {
    "usage.cache-off": {
      clause: "The score cache is off unless the operator turns it on.",
      expected: "no cached pairs for a repeated request if /health reports no cache",
      run: async (trial: Trial) => {
        const size = at(trial.facts.health.json, "cache_size");
        if (size !== 0) trial.skip("/health does not report whether the cache is off");
        const body = { state: freshState(), candidates: ["one", "two"] };
        const first = await counted(trial, RANK, body);
        const { count, cached, inferred } = await counted(trial, RANK, body);
        const isSame = cached === 0 && count === first.count;
        trial.expect(isSame, `${cached} cached pairs, ${count} tokens after ${first.count}`, inferred);
      },
    },
  }),
];

function usageOf(trial: Trial, { json }: Inferred) {
  const counts = ["input_tokens", "output_tokens", "total_tokens", "cached_pairs"].map((name) =>
    at(json, "usage", name),
  );
  if (!isNumbers(counts)) trial.skip("no usage to check: see systemone.usage");
  const [input = 0, output = 0, total = 0, cached = 0] = counts;
  return { input, output, total, cached };
}

/** Sends a request and returns its tokens. */
export async function counted(trial: Trial, path: string, body: unknown) {
  return countIn(trial, await trial.infer(path, body));
}

/** The token counts of an answer. */
export function countIn(trial: Trial, inferred: Inferred) {
  const { input, cached } = usageOf(trial, inferred);
  return { count: input, cached, inferred };
}

/** The same. @throws CannotTell if a pair came from a cache */
async function uncached(trial: Trial, path: string, body: unknown) {
  const found = await counted(trial, path, body);
  if (found.cached > 0) trial.skip("pairs came from a score cache: see usage.cached-pairs");
  return found;
}

type Counted = Awaited<ReturnType<typeof counted>>;

function compareSum(trial: Trial, whole: Counted, parts: readonly Counted[]): void {
  const counts = parts.map(({ count }) => count);
  const came = `${whole.count} tokens for the whole, ${counts.join(" + ")} = ${sum(counts)} for its parts`;
  trial.expect(whole.count === sum(counts), came, whole.inferred);
}

/** Expects questions to have as many tokens together as each alone. */
async function expectSum(
  trial: Trial,
  state: string,
  questions: Readonly<Record<string, unknown>>,
): Promise<void> {
  const whole = await counted(trial, SYSTEMONE, { state, questions });
  const alone = [];
  for (const [name, question] of Object.entries(questions))
    alone.push(await uncached(trial, SYSTEMONE, { state, questions: { [name]: question } }));
  compareSum(trial, whole, alone);
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
  await expectSum(trial, state, {
    short: scoreOf(["x", "y"]),
    ...Object.fromEntries(
      LENGTHS.map((length) => [`n${length}`, { type: "noul", instructions: `Is it ${long(length)}?` }]),
    ),
    described: { type: "noul", instructions: "So?", criteria: { true: long(12), false: "no" } },
    levels: scoreOf(LENGTHS.map(long)),
    labels: choiceOf(Object.fromEntries(LENGTHS.map((length) => [`l${length}`, long(length)]))),
  });
  const candidates = LENGTHS.map((length) => `${long(length)}.`);
  const others = candidates.map((text) => `${text} and a pair that is made up`);
  const ranked = await counted(trial, RANK, { state, candidates });
  const rest = await uncached(trial, RANK, { state, candidates: others });
  const pairs = [];
  for (const [index, text] of candidates.entries())
    pairs.push(await uncached(trial, RANK, { state, candidates: [text, others[index]] }));
  compareSum(trial, { ...ranked, count: ranked.count + rest.count }, pairs);
}

async function checkSteps(trial: Trial): Promise<void> {
  const tried: string[] = [];
  for (const word of STEP_WORDS) {
    const counts: number[] = [];
    const state = freshState();
    for (let words = 1; words <= STEPS; words += 1) {
      const candidates = [`${word} `.repeat(words).trim(), `other ${words} thing`];
      counts.push((await counted(trial, RANK, { state, candidates })).count);
    }
    const steps = counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
    // the first words may have more tokens than later ones: most steps must be equal
    const usual = steps.toSorted((x, y) => x - y)[STEPS >> 1] ?? 0;
    if (usual > 0 && steps.filter((step) => step === usual).length >= STEPS - 4) return;
    tried.push(`${word}: ${counts.join(", ")}`);
  }
  trial.fail(`tokens of candidates of 1 to ${STEPS} words: ${tried[0]}`);
}
