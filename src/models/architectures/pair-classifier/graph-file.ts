import { readFile } from "node:fs/promises";
import { invalidModel } from "../../../errors.ts";
import { type GraphFacts, readGraphFacts } from "../../../onnx/file/graph-facts.ts";
import { graphFault } from "./recognize.ts";

/** @throws ServiceError INVALID_MODEL if it is no ONNX file */
export async function graphFactsOf(graph: string): Promise<GraphFacts> {
  const bytes = await readFile(graph);
  try {
    return readGraphFacts(bytes);
  } catch (cause) {
    throw invalidModel("model.onnx is not an ONNX file.", cause);
  }
}

/**
 * Checks the inputs, outputs and operators of a graph by what it says of itself.
 *
 * @param graph  its path
 * @param labels number of logits
 * @throws ServiceError INVALID_MODEL
 */
export async function checkGraphFile(graph: string, labels: number): Promise<GraphFacts> {
  const facts = await graphFactsOf(graph);
  const fault = graphFault(facts, labels);
  if (fault !== undefined) throw invalidModel(`model.onnx ${fault}.`);
  return facts;
}
