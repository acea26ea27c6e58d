import type { ModelPackage } from "../../package/package.ts";
import type { PairGraph } from "../architecture.ts";
import type { PairClassifierArchitecture } from "./facts.ts";
import { readingsOf } from "./readings.ts";
import { LOGITS } from "./recognize.ts";

export const GRAPH = "model.onnx";

export async function openGraph(
  modelPackage: ModelPackage,
  part: PairClassifierArchitecture,
): Promise<PairGraph> {
  const { openEncoder } = await import("./tokenizer.ts");
  const { frame } = await openEncoder(modelPackage);
  return {
    kind: "pairs",
    graph: await checkGraph(modelPackage, part),
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
): Promise<Uint8Array | string> {
  // imported on demand: reading ONNX files needs a library that would slow down every other start
  const [{ openOwnGraph }, { checkGraphFile }] = await Promise.all([
    import("../own-graph.ts"),
    import("./graph-file.ts"),
  ]);
  const graph = await openOwnGraph(modelPackage, GRAPH);
  await checkGraphFile(graph, labels);
  return graph;
}
