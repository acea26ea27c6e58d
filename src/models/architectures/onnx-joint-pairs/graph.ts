import type { ModelPackage } from "../../package/package.ts";
import type { PairGraph } from "../architecture.ts";
import type { JointGraphArchitecture } from "./facts.ts";

const GRAPH = "model.onnx";

export async function openGraph(
  modelPackage: ModelPackage,
  { max_tokens: maxTokens }: JointGraphArchitecture,
): Promise<PairGraph> {
  const graph = await checkGraph(modelPackage);
  return { kind: "pairs", graph, maxTokens, output: "scores", readings: [0], scale: 1 };
}

export async function checkGraph(modelPackage: ModelPackage): Promise<Uint8Array | string> {
  // imported on demand: reading ONNX files needs a library that would slow down every other start
  return (await import("../own-graph.ts")).openOwnGraph(modelPackage, GRAPH);
}
