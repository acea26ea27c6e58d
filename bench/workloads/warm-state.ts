import { Random } from "../random.ts";
import { rankRequest } from "./bodies.ts";
import { distinctTexts, SPECIAL_TOKENS as SPECIAL, textOf } from "./texts.ts";
import type { BenchRequest } from "./workload.ts";

/** Tokens of each part, special tokens included. */
const STATE = 1000;
const QUESTION = 12;
const CANDIDATE = 10;

/**
 * Two questions with two candidates each on a 1,000-token state. The first computes the state, the second finds it
 * cached.
 *
 * @param index selects the state
 */
export function questionsOnOneState(seed: number, index: number): readonly [BenchRequest, BenchRequest] {
  const random = new Random(seed, "warm-state", index);
  const state = textOf(random, STATE - SPECIAL.state);
  const ask = () => {
    const question = textOf(random, QUESTION - SPECIAL.question);
    return rankRequest(state, question, distinctTexts(random, 2, CANDIDATE - SPECIAL.candidate));
  };
  return [ask(), ask()];
}
