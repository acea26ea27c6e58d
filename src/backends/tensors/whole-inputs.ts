import { type Gemma3Shape, wholeGemma3Tensors } from "../../onnx/causal/gemma3-io.ts";
import { WHOLE_TREE_IO as IO, type TokenTreeShape } from "../../onnx/token-tree-io.ts";
import { threadParts } from "./causal-keys.ts";
import { causalInputs } from "./causal-tensors.ts";
import { type Forward, isLongQuestion, isLongState, newNodes, tokenCount } from "./forward.ts";
import { cutQueries, longestChunk, newTokenInputs, numberNodes } from "./forward-tensors.ts";
import { int64, type TensorData } from "./tensor-data.ts";
import type { TreeShape } from "./tree-model.ts";

/** Maximum threads of a server for which scores of causal models are bit-identical to local ones. Chosen: with more, the last bits may differ. */
const SERVER_THREADS = 16;

/** Inputs of an exported whole-tree graph for one forward, by name. */
export function wholeInputs(forward: Forward, shape: TreeShape): Readonly<Record<string, TensorData>> {
  return "type" in shape ? wholeCausalInputs(forward, shape) : wholeTreeInputs(forward, shape);
}

const nothingIsKnown = () => {
  throw new Error("a forward of whole trees must not depend on earlier forwards");
};

function wholeTreeInputs(forward: Forward, shape: TokenTreeShape): Readonly<Record<string, TensorData>> {
  const { newPrefix, newRest } = forward;
  const above = tokenCount(newPrefix);
  const hasLongQuestion = newPrefix.some(isLongQuestion);
  const longest = longestChunk(forward, shape.heads);
  const chunked = tokenCount(newRest) + (hasLongQuestion ? 0 : above);
  const { chunks, chunkSize } = cutQueries(chunked, longest);
  const tokens = chunks * chunkSize + (hasLongQuestion ? above : 0);
  const state = hasLongQuestion ? tokenCount(newPrefix.filter(isLongState)) : above;
  const aboveChunks = Math.max(1, Math.ceil(above / longest));
  return {
    ...newTokenInputs(forward, shape, tokens, numberNodes(newNodes(forward))).feeds,
    [IO.split]: int64([state, above - state, tokens - above]),
    [IO.chunks]: int64([chunks, chunkSize]),
    [IO.aboveChunks]: int64([aboveChunks, Math.max(1, Math.ceil(above / aboveChunks))]),
  };
}

function wholeCausalInputs(forward: Forward, shape: Gemma3Shape): Readonly<Record<string, TensorData>> {
  const { feeds } = causalInputs(forward, shape, threadParts(shape, SERVER_THREADS), nothingIsKnown);
  const kept = wholeGemma3Tensors(shape).inputs.map(({ name }): [string, TensorData] => {
    const input = feeds[name];
    if (input === undefined) throw new Error(`a forward has no input ${name}`);
    return [name, input.dims.length === 0 ? { ...input, dims: [1] } : input];
  });
  return Object.fromEntries(kept);
}
