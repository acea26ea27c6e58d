import type { ModelPackage } from "../../package/package.ts";
import type { GraphWish, PairGraph } from "../architecture.ts";
import type { OwnGraph } from "../own-graph.ts";
import type { PairClassifierArchitecture } from "./facts.ts";

export const GRAPH = "model.onnx";
/** The output that a classifier's graph must have. */
export const LOGITS = "logits";

export async function openGraph(
  modelPackage: ModelPackage,
  part: PairClassifierArchitecture,
  wish: GraphWish,
): Promise<PairGraph> {
  const [{ openEncoder }, { packOwnGraph }] = await Promise.all([
    import("./tokenizer.ts"),
    import("../own-graph.ts"),
  ]);
  const { frame } = await openEncoder(modelPackage);
  const own = await checkGraph(modelPackage, part);
  const packed = await packOwnGraph(modelPackage, GRAPH, own, wish);
  return {
    kind: "pairs",
    graph: packed ?? own.graph,
    sharesWeights: packed !== undefined,
    maxTokens: part.max_tokens,
    output: LOGITS,
    readings: readingsOf(part),
    sample: Int32Array.of(...frame.before, ...frame.between, ...frame.after),
    scale: modelPackage.manifest.temperature,
    ...(frame.types === "by-separator" ? { separatorId: frame.between[0] } : {}),
  };
}

export async function checkGraph(
  modelPackage: ModelPackage,
  { labels }: PairClassifierArchitecture,
): Promise<OwnGraph> {
  // imported on demand: reading ONNX files needs a library that would slow down every other start
  return (await import("../own-graph.ts")).openOwnGraph(modelPackage, GRAPH, { name: LOGITS, labels });
}

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
function readingsOf({
  entailment,
  contradiction,
}: Pick<PairClassifierArchitecture, "entailment" | "contradiction">): PairGraph["readings"] {
  return [entailment, contradiction ?? null];
}
