import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { ServiceError } from "../../errors.ts";
import type { Multiplication } from "../../onnx/layers/linear.ts";
import { WeightsWriter } from "../graph/weights-writer.ts";
import type { ModelPackage } from "../package/package.ts";
import type { WholeModel } from "./architecture.ts";
import { architectureOf } from "./architectures.ts";
import { weightFiles } from "./manifests.ts";

/** Version of the exported graph. Changes with its inputs and with its scores. */
const VERSION = "whole trees, 1";
const WEIGHTS = "weights.bin";

/** Number formats of another server: int8 and fp32 for ONNX graphs; fp32, bf16 and fp16 for PyTorch. */
export const WHOLE_PRECISIONS = ["int8", "fp32", "bf16", "fp16"] as const;
export type WholePrecision = (typeof WHOLE_PRECISIONS)[number];

/** An exported graph, which computes whole trees in one run. */
export interface WholeGraph extends Pick<WholeModel, "shape" | "inputs" | "outputs"> {
  /** SHA-256 (32 bytes) of the digests of its weights, its shape and its precision. */
  readonly digest: Uint8Array;
}

/**
 * Describes the graph of a package without reading its weights.
 *
 * @throws ServiceError INVALID_OPTION for a package with its own graph | INVALID_MODEL
 */
export async function wholeGraph(
  modelPackage: ModelPackage,
  precision: WholePrecision,
): Promise<WholeGraph & Pick<WholeModel, "write">> {
  const { architecture, files, id } = modelPackage.manifest;
  const { wholeModel } = await architectureOf(architecture.type).graph();
  if (wholeModel === undefined)
    throw new ServiceError(
      "INVALID_OPTION",
      `${id} has its own ONNX graph, which cannot be exported: it does not compute token trees.`,
    );
  const { settings, ...model } = await wholeModel(modelPackage, architecture);
  const digests = weightFiles(architecture.type).map((name) => [name, files[name]]);
  const source = JSON.stringify([VERSION, precision, digests, settings]);
  return { ...model, digest: createHash("sha256").update(source).digest() };
}

/**
 * Writes the graph, with its large constants in a file beside it.
 *
 * @param folder an existing folder
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL; the system's error if it cannot be written
 */
export async function writeWholeGraph(
  modelPackage: ModelPackage,
  form: Multiplication,
  folder: string,
): Promise<WholeGraph> {
  const graph = await wholeGraph(modelPackage, form === "fp32" ? "fp32" : "int8");
  const weights = new WeightsWriter(folder, WEIGHTS);
  try {
    await writeFile(path.join(folder, "model.onnx"), await graph.write(form, graph.digest, weights));
  } finally {
    weights.close();
  }
  return graph;
}
