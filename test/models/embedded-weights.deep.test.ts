import assert from "node:assert/strict";
import { it } from "node:test";
import { tokenTreeShape } from "../../src/models/architectures/bert-token-tree/graph.ts";
import { openModelPackage, readPackageFile } from "../../src/models/package/package.ts";
import { bytesSource } from "../../src/models/weights/safetensors.ts";
import { Tensors } from "../../src/models/weights/tensors.ts";
import { layerWeights } from "../../src/onnx/encoder/layer-weights.ts";
import { quantizeWeights, rotateRows, rotationBlock } from "../../src/onnx/layers/quantized-weights.ts";
import { embeddedModel } from "../support/package-root.ts";

/** Steps of int8, root mean square. Weights anywhere between two steps are off by 0.29. */
const MOST_OFF = 0.05;

/** training/snap.py puts them there: so int8 and float32 have the same weights. */
it("the embedded model's weights are on the grid of int8", async () => {
  const modelPackage = await openModelPackage(embeddedModel);
  const shape = tokenTreeShape(modelPackage.manifest.architecture);
  const { hidden, inner, heads, layers } = shape;
  const file = await readPackageFile(modelPackage, "model.safetensors");
  const tensors = layerWeights(new Tensors(bytesSource(file, "model.safetensors")), shape);
  const gainOf = (norm: string) => tensors.float32(`${norm}.weight`, [hidden]);
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: string, outputs: number, inputs: number) =>
      tensors.float32(`layers.${layer}.${name}.weight`, [outputs, inputs]);
    const qkv = scaled(of("qkv", 3 * hidden, hidden), gainOf(layer === 0 ? "ln" : `layers.${layer - 1}.ln2`));
    const valuesBegin = 2 * hidden * hidden;
    qkv.set(rotateRows(qkv.slice(valuesBegin), rotationBlock(hidden / heads), hidden), valuesBegin);
    const maps: Record<string, readonly [Float32Array, outputs: number]> = {
      qkv: [qkv, 3 * hidden],
      out: [of("out", hidden, hidden), hidden],
      up: [scaled(of("up", inner, hidden), gainOf(`layers.${layer}.ln1`)), inner],
      down: [of("down", hidden, inner), hidden],
    };
    for (const [name, [weight, outputs]] of Object.entries(maps)) {
      const off = stepsOff(weight, outputs);
      assert.ok(off < MOST_OFF, `${name} of layer ${layer}: ${off} steps`);
    }
  }
});

/** [outputs, inputs], each input times its gain. */
function scaled(weight: Float32Array, gain: Float32Array): Float32Array {
  return weight.map((x, i) => x * (gain[i % gain.length] ?? Number.NaN));
}

/** How far rounded weights are from the given ones, in steps. */
function stepsOff(weight: Float32Array, outputs: number): number {
  const inputs = weight.length / outputs;
  const block = rotationBlock(inputs);
  const { values, scales } = quantizeWeights(weight, outputs, block);
  let squares = 0;
  for (let n = 0; n < outputs; n++) {
    const rounded = Float32Array.from({ length: inputs }, (_, k) => values[k * outputs + n] ?? Number.NaN);
    const back = rotateRows(rounded, block, 1);
    const scale = scales[n] ?? Number.NaN;
    for (let k = 0; k < inputs; k++)
      squares += ((weight[n * inputs + k] ?? Number.NaN) / scale - (back[k] ?? Number.NaN)) ** 2;
  }
  return Math.sqrt(squares / weight.length);
}
