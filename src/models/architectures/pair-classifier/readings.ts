import type { PairGraph } from "../architecture.ts";
import type { PairClassifierArchitecture } from "./facts.ts";

/**
 * The logits that are scores:
 *
 *     choice, rubric, ranking   that of entailment, or the only one
 *     yes/no true: that of entailment, or the only one; false: that of contradiction, or the number 0
 *
 * So the softmax of a yes/no question is the probability of entailment against contradiction, as the public pipeline
 * computes it with several labels, or the sigmoid of the only logit.
 *
 * @see https://github.com/huggingface/transformers, ZeroShotClassificationPipeline.postprocess
 */
export function readingsOf({
  entailment,
  contradiction,
}: Pick<PairClassifierArchitecture, "entailment" | "contradiction">): PairGraph["readings"] {
  return [entailment, contradiction ?? null];
}
