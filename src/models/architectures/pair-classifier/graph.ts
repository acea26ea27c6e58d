import { invalidModel } from "../../../errors.ts";
import type { ModelPackage } from "../../package/package.ts";
import type { GraphWish, PairGraph } from "../architecture.ts";
import type { OwnGraph } from "../own-graph.ts";
import type { PairClassifierArchitecture } from "./facts.ts";
import { readingsOf } from "./readings.ts";
import { graphFault, LOGITS } from "./recognize.ts";

export const GRAPH = "model.onnx";

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

/** Also checks what the graph says of itself. */
export async function checkGraph(
  modelPackage: ModelPackage,
  { labels }: PairClassifierArchitecture,
): Promise<OwnGraph> {
  // imported on demand: reading ONNX files needs a library that would slow down every other start
  const { openOwnGraph } = await import("../own-graph.ts");
  const own = await openOwnGraph(modelPackage, GRAPH);
  const fault = graphFault(own.facts, labels);
  if (fault !== undefined) throw invalidModel(`${GRAPH} ${fault}.`);
  return own;
}
