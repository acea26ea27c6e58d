import type { ModelPackage } from "../../package/package.ts";
import type { GraphWish, PairGraph } from "../architecture.ts";
import type { OwnGraph } from "../own-graph.ts";
import type { JointGraphArchitecture } from "./facts.ts";

const GRAPH = "model.onnx";
const OUTPUT = { name: "scores" };

export async function openGraph(
  modelPackage: ModelPackage,
  { max_tokens: maxTokens }: JointGraphArchitecture,
  wish: GraphWish,
): Promise<PairGraph> {
  const { packOwnGraph } = await import("../own-graph.ts");
  const own = await checkGraph(modelPackage);
  const packed = await packOwnGraph(modelPackage, GRAPH, own, wish);
  return {
    kind: "pairs",
    graph: packed ?? own.graph,
    sharesWeights: packed !== undefined,
    maxTokens,
    output: OUTPUT.name,
    readings: [0],
    scale: 1,
  };
}

export async function checkGraph(modelPackage: ModelPackage): Promise<OwnGraph> {
  // imported on demand: reading ONNX files needs a library that would slow down every other start
  return (await import("../own-graph.ts")).openOwnGraph(modelPackage, GRAPH, OUTPUT);
}
