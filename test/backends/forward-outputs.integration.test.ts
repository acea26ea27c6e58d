import assert from "node:assert/strict";
import { it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { ForwardRunner } from "../../src/backends/onnx/forwards/forward-runner.ts";
import { InferenceSession, Tensor } from "../../src/backends/onnx/runtime/runtime.ts";
import { arraysOf } from "../../src/backends/tensors/key-values.ts";
import { treeModel } from "../../src/backends/tensors/tree-model.ts";
import { nodeBelow } from "../../src/inference/nodes.ts";
import { shallowGraph, shallowShape } from "./shallow-model.ts";

it("the runtime writes the keys and values of a state into memory of the caller, not into its own", async (context) => {
  const graph = await shallowGraph("u8u8");
  const runner = await ForwardRunner.load(graph, treeModel(shallowShape, 1), 1);
  const sessions = Object.getPrototypeOf(await InferenceSession.create(graph));
  const { run } = sessions;
  const places: Float32Array[] = [];
  context.mock.method(sessions, "run", function (this: object, ...given: unknown[]) {
    for (const place of Object.values(given[1] as object))
      if (place instanceof Tensor && place.data instanceof Float32Array) places.push(place.data);
    return Reflect.apply(run, this, given);
  });
  const ids = (count: number) => Int32Array.from({ length: count }, (_, at) => 1000 + at);
  const state = nodeBelow(undefined, ids(100));
  const question = nodeBelow(state, ids(5));
  const candidate = nodeBelow(question, ids(3));
  const forward = { pastPrefix: [], pastRest: [], newPrefix: [state], newRest: [question, candidate] };
  const { keyValues } = await runner.run({ forward, wanted: [state] }, new Map());
  assert.equal(places.length, 2 * shallowShape.layers);
  const [ofState] = keyValues;
  assert.ok(ofState);
  for (const array of arraysOf(ofState)) {
    assert.equal(array.length, 100 * shallowShape.hidden);
    assert.ok(array.some((value) => value !== 0));
    assert.ok(places.some((place) => isDeepStrictEqual(place, array)));
  }
});
