import { readFileSync } from "node:fs";
import path from "node:path";
import { embeddedModel } from "./package-root.ts";
import type { TokenTree } from "./trees.ts";

interface GoldenDecision {
  readonly state: string;
  readonly question: string;
  readonly candidates: readonly string[];
  readonly token_ids: { state: number[]; question: number[]; candidates: number[][] };
  readonly scores: readonly number[];
}

/** Decisions with the scores that the training code gave them (float32, PyTorch). */
export const goldenDecisions: readonly GoldenDecision[] = JSON.parse(
  readFileSync(path.join(embeddedModel, "golden.json"), "utf8"),
).decisions;

export function tokenTree({ token_ids: ids }: GoldenDecision): TokenTree {
  return {
    state: Int32Array.from(ids.state),
    questions: [
      { tokens: Int32Array.from(ids.question), candidates: ids.candidates.map((c) => Int32Array.from(c)) },
    ],
  };
}
