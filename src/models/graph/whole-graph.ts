import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { ServiceError } from "../../errors.ts";
import { type Gemma3Shape, wholeGemma3Tensors } from "../../onnx/causal/gemma3-io.ts";
import { buildWholeGemma3 } from "../../onnx/causal/gemma3-token-tree.ts";
import { buildWholeTree } from "../../onnx/encoder/bert-token-tree.ts";
import type { Multiplication } from "../../onnx/layers/linear.ts";
import { type TensorFacts, type TokenTreeShape, wholeTreeTensors } from "../../onnx/token-tree-io.ts";
import type { Architecture } from "../package/manifest.ts";
import type { ModelPackage } from "../package/package.ts";
import { gemma3Shape, gemma3Writer, packageTensors, tokenTreeShape } from "./graph.ts";
import { WeightsWriter } from "./weights-writer.ts";

/** Version of the exported graph. Changes with its inputs and with its scores. */
const VERSION = "whole trees, 1";
const WEIGHTS = "weights.bin";

/** Number formats of another server: int8 and fp32 for ONNX graphs; fp32, bf16 and fp16 for PyTorch. */
export const WHOLE_PRECISIONS = ["int8", "fp32", "bf16", "fp16"] as const;
export type WholePrecision = (typeof WHOLE_PRECISIONS)[number];

/** Inputs, outputs and digest of an exported graph, which computes whole trees in one run. */
export interface WholeGraph {
  readonly shape: TokenTreeShape | Gemma3Shape;
  readonly inputs: readonly TensorFacts[];
  readonly outputs: readonly TensorFacts[];
  /** SHA-256 (32 bytes) of the digests of its weights, its shape and its precision. */
  readonly digest: Uint8Array;
}

/**
 * Describes the graph of a package without reading its weights.
 *
 * @throws ServiceError INVALID_OPTION for a package with its own graph | INVALID_MODEL
 */
export async function wholeGraph(modelPackage: ModelPackage, precision: WholePrecision): Promise<WholeGraph> {
  const { architecture, files, id } = modelPackage.manifest;
  const digestOf = (shape: object, names: readonly string[]) => {
    const source = [VERSION, precision, names.map((name) => [name, files[name]]), shape];
    return createHash("sha256").update(JSON.stringify(source)).digest();
  };
  switch (architecture.type) {
    case "bert-token-tree": {
      const shape = tokenTreeShape(architecture);
      return { shape, ...wholeTreeTensors(shape.hidden), digest: digestOf(shape, weightFiles(architecture)) };
    }
    case "gemma3-text-joint": {
      const shape = await gemma3Shape(modelPackage);
      const digest = digestOf({ positions: shape.positions }, weightFiles(architecture));
      return { shape, ...wholeGemma3Tensors(shape), digest };
    }
    case "onnx-joint-pairs":
      throw new ServiceError(
        "INVALID_OPTION",
        `${id} has its own ONNX graph, which cannot be exported: it does not compute token trees.`,
      );
  }
}

/** The files of a package that determine the scores of given tokens. */
export function weightFiles({ type }: Architecture): readonly string[] {
  return type === "gemma3-text-joint"
    ? ["config.json", "joint_head.safetensors", "model.safetensors"]
    : ["model.safetensors"];
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
  const facts = await wholeGraph(modelPackage, form === "fp32" ? "fp32" : "int8");
  const weights = new WeightsWriter(folder, WEIGHTS);
  try {
    const graph =
      "type" in facts.shape
        ? await gemma3Writer(modelPackage, (shape, read) =>
            buildWholeGemma3(shape, read, form, facts.digest, weights),
          )
        : buildWholeTree(
            facts.shape,
            await packageTensors(modelPackage, "model.safetensors"),
            form,
            facts.digest,
            weights,
          );
    await writeFile(path.join(folder, "model.onnx"), graph);
  } finally {
    weights.close();
  }
  return facts;
}
