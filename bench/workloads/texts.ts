import type { Random } from "../random.ts";
import { WORDS } from "./words.ts";

/** A text of `tokens` tokens, without special tokens. One word is one token. */
export function textOf(random: Random, tokens: number): string {
  return Array.from({ length: tokens }, () => random.pick(WORDS)).join(" ");
}

/** `count` texts of `tokens` tokens that all differ. */
export function distinctTexts(random: Random, count: number, tokens: number | (() => number)): string[] {
  const texts = new Set<string>();
  // one-word texts may repeat: there are a few hundred words and dozens of candidates
  while (texts.size < count) texts.add(textOf(random, typeof tokens === "number" ? tokens : tokens()));
  return [...texts];
}

/** Special tokens of BERT's parts: `[CLS] .. [SEP]`, `.. [SEP]`, `[CLS] .. [SEP]`. */
export const SPECIAL_TOKENS = { state: 2, question: 1, candidate: 2 } as const;
