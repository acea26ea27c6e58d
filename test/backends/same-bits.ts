import { bitsOf } from "../support/bits.ts";
import { seededRandom } from "../support/seeded-random.ts";
import type { TokenTree } from "../support/trees.ts";

/** Raw scores of a forest, pair by pair. */
export type Score = (forest: readonly TokenTree[]) => Promise<Float32Array>;

export interface Found {
  /** Describes the first pair whose bits depended on other pairs; null if none did. */
  readonly difference: string | null;
  /** How many forests were scored, and how many pairs in them compared. */
  readonly compositions: number;
  readonly pairs: number;
}

type Random = ReturnType<typeof seededRandom>;

/**
 * Property test: a pair's score has the same bits in any forest as alone.
 *
 * Draws forests from a few dozen texts, so that states recur (cached) and pairs are combined in new ways. Stops at the
 * first difference.
 *
 * @param alone scores each pair separately, once
 * @param company scorers that score the forests in turn
 */
export async function firstDifference(
  alone: Score,
  company: readonly Score[],
  { seed, compositions }: { seed: number; compositions: number },
): Promise<Found> {
  const random = seededRandom(seed);
  const texts = new Texts(random);
  const known = new Map<string, number>();
  let pairs = 0;
  for (let done = 0; done < compositions; done++) {
    const drawn = drawForest(random);
    const score = company[done % company.length] ?? alone;
    const found = bitsOf(await score(drawn.map((tree) => texts.tree(tree))));
    for (const [i, pair] of drawn.flatMap(pairsOf).entries()) {
      const name = JSON.stringify(pair);
      const wanted = known.get(name) ?? bitsOf(await alone([texts.tree(pair)]))[0];
      if (wanted === undefined || found[i] !== wanted) {
        const difference = `pair ${name}, ${i} of composition ${done}: ${JSON.stringify(drawn)}`;
        return { difference, compositions: done + 1, pairs };
      }
      known.set(name, wanted);
      pairs += 1;
    }
  }
  return { difference: null, compositions, pairs };
}

/** A tree as indexes of its texts. */
interface DrawnTree {
  readonly state: number;
  readonly questions: readonly { readonly text: number; readonly candidates: readonly number[] }[];
}

/** How many texts a forest takes of each kind, and which. */
interface Kind {
  readonly states: readonly number[];
  readonly questions: readonly number[];
  readonly candidates: readonly number[];
}

// Lengths in tokens. Bounds: states of 64 are kept; 128 tokens of questions and candidates go in one forward; questions
// of more than 128 are encoded alone; sums of more than 256 keys are cut; from about 400 tokens on, queries go in
// chunks.
const SHORT: Kind = {
  states: [2, 3, 5, 9, 14, 17, 23, 31, 40, 64],
  questions: [1, 2, 6, 11],
  candidates: [2, 3, 5, 8, 13],
};
const AT_BOUNDS: Kind = {
  states: [63, 65, 120, 127, 128, 129, 170, 183, 254, 255, 256, 257],
  questions: [30, 126, 128, 129],
  candidates: [15, 60, 127],
};
const LONG: Kind = { states: [300, 513, 900, 1500], questions: [9, 260], candidates: [4, 130, 258] };
const ALL: Kind = {
  states: [...SHORT.states, ...AT_BOUNDS.states, ...LONG.states],
  questions: [...SHORT.questions, ...AT_BOUNDS.questions, ...LONG.questions],
  candidates: [...SHORT.candidates, ...AT_BOUNDS.candidates, ...LONG.candidates],
};

/** The tokens of all texts. They are views of one buffer, as for a text sliced from a longer one. */
class Texts {
  readonly #states: readonly Int32Array[];
  readonly #questions: readonly Int32Array[];
  readonly #candidates: readonly Int32Array[];

  constructor(random: Random) {
    const lengths = [...ALL.states, ...ALL.questions, ...ALL.candidates];
    const all = Int32Array.from({ length: sum(lengths) }, () => 1000 + random.below(28_000));
    let end = 0;
    const cut = (length: number) => {
      end += length;
      return all.subarray(end - length, end);
    };
    this.#states = ALL.states.map(cut);
    this.#questions = ALL.questions.map(cut);
    this.#candidates = ALL.candidates.map(cut);
  }

  tree({ state, questions }: DrawnTree): TokenTree {
    return {
      state: at(this.#states, state),
      questions: questions.map(({ text, candidates }) => ({
        tokens: at(this.#questions, text),
        candidates: candidates.map((candidate) => at(this.#candidates, candidate)),
      })),
    };
  }
}

/** Mostly many short texts, which are cheap; one in 33 forests has texts at the bounds, one in 60 long ones. */
function drawForest(random: Random): DrawnTree[] {
  const many = (most: number, draw: () => DrawnTree) => Array.from({ length: 1 + random.below(most) }, draw);
  const chance = random.next();
  const short = many(2, () => drawTree(random, SHORT));
  if (chance < 1 / 60) return shuffled(random, [drawTree(random, LONG), ...short]);
  if (chance < 1 / 60 + 1 / 33) return shuffled(random, [drawTree(random, AT_BOUNDS), ...short]);
  return short;
}

function drawTree(random: Random, kind: Kind): DrawnTree {
  // of its own kind, or (a short question on a long state, say) of the short one
  const one = (which: keyof Kind) => {
    const lengths = random.next() < 0.5 ? kind[which] : SHORT[which];
    return ALL[which].indexOf(lengths[random.below(lengths.length)] ?? 0);
  };
  const state = kind.states[random.below(kind.states.length)] ?? 0;
  return {
    state: ALL.states.indexOf(state),
    questions: Array.from({ length: 1 + random.below(2) }, () => ({
      text: one("questions"),
      candidates: Array.from({ length: 1 + random.below(3) }, () => one("candidates")),
    })),
  };
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Each pair of a tree as a separate tree, in the order of the scores. */
function pairsOf({ state, questions }: DrawnTree): DrawnTree[] {
  return questions.flatMap(({ text, candidates }) =>
    candidates.map((candidate) => ({ state, questions: [{ text, candidates: [candidate] }] })),
  );
}

function at(texts: readonly Int32Array[], place: number): Int32Array {
  const text = texts[place];
  if (!text) throw new Error("a text is drawn that there is not");
  return text;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
