import { type ModelPackage, readPackageFile } from "../../src/models/package/package.ts";
import { readSafetensors } from "../../src/models/weights/safetensors.ts";
import { float16ToFloat32 } from "../../src/onnx/float16.ts";
import type { Weights } from "../../src/onnx/token-tree-io.ts";

/** The weights of a verified package, for graphs of the bench. */
export async function readWeights(modelPackage: ModelPackage): Promise<Weights> {
  const tensors = readSafetensors(await readPackageFile(modelPackage, "model.safetensors"));
  const float16 = (name: string, shape: readonly number[]): Uint16Array => {
    const tensor = tensors.get(name);
    if (tensor?.type !== "F16" || tensor.shape.join() !== shape.join()) {
      throw new Error(`model.safetensors holds no ${name} as F16 in shape [${shape}]`);
    }
    return new Uint16Array(new Uint8Array(tensor.bytes).buffer); // a copy, because the view may be unaligned
  };
  return { float16, float32: (name, shape) => float16ToFloat32(float16(name, shape)) };
}
