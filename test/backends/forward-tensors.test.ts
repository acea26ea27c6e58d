import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Forward } from "../../src/backends/tensors/forward.ts";
import { cutQueries, forwardInputs } from "../../src/backends/tensors/forward-tensors.ts";
import { type Node, nodesAbove } from "../../src/inference/nodes.ts";
import { TOKEN_TREE_IO as IO, type TokenTreeShape } from "../../src/onnx/token-tree-io.ts";

describe("the chunks of queries", () => {
  it("take every token and a filler, none of them alone", () => {
    for (let tokens = 1; tokens <= 700; tokens++) {
      for (const longest of [1, 2, 15, 16, 17, 31, 32, 100, 256, 699, 700, 701, 40_000]) {
        const { chunks, chunkSize } = cutQueries(tokens, longest);
        const what = `${tokens} tokens in chunks of at most ${longest}: ${chunks} of ${chunkSize}`;
        assert.ok(Number.isInteger(chunks) && Number.isInteger(chunkSize) && chunks >= 1, what);
        assert.ok(chunks * chunkSize >= tokens + 1, what);
        assert.ok(chunkSize >= 2, what);
        assert.ok(chunkSize <= Math.max(longest, 16), what);
        assert.ok(chunks * chunkSize <= tokens + 1 + chunks, `no more filler than chunks: ${what}`);
      }
    }
  });
});

const shape: TokenTreeShape = {
  vocab: 100,
  hidden: 8,
  heads: 2,
  inner: 16,
  layers: 1,
  positions: 64,
  layerNormEpsilon: 1e-12,
};
const node = (level: 0 | 1 | 2, length: number, ...above: Node[]): Node => ({
  level,
  tokens: new Int32Array(length),
  key: "",
  parent: above.at(-1),
});
/** Zeros for every node encoded earlier. */
const zeros = ({ tokens: { length } }: Node) => ({
  tokens: length,
  keys: [new Float32Array(2 * length * 4)],
  values: [new Float32Array(2 * length * 4)],
});

function feed(forward: Partial<Forward>, name: string, wanted: readonly Node[] = []): number[] {
  const whole = { pastPrefix: [], pastRest: [], newPrefix: [], newRest: [], ...forward };
  const data = forwardInputs({ forward: whole, wanted }, shape, zeros).feeds[name]?.data ?? [];
  return Array.from(data, Number);
}

describe("the inputs of a forward", () => {
  const [state, other] = [node(0, 3), node(0, 4)];
  const question = node(1, 2, state);
  const [first, second] = [node(2, 2, state, question), node(2, 3, state, question)];
  const longQuestion = node(1, 130, state);
  const below = node(2, 2, state, longQuestion);

  const cases: readonly (readonly [string, Partial<Forward>, boolean, boolean])[] = [
    ["a new state in the prefix", { newPrefix: [state], newRest: [question, first] }, true, false],
    [
      "a prefix that was encoded earlier",
      { pastPrefix: [state, longQuestion], newRest: [below] },
      true,
      true,
    ],
    ["no prefix", { newRest: [state, question, first] }, false, true],
    [
      "no prefix, but a rest that was encoded earlier",
      { pastRest: [state, question], newRest: [first] },
      false,
      true,
    ],
  ];
  for (const [name, forward, has, isPast] of cases) {
    it(`tell of ${name}`, () => {
      assert.deepEqual(feed(forward, IO.hasPrefix), [Number(has)]);
      assert.deepEqual(feed(forward, IO.prefixIsPast), [Number(isPast)]);
    });
  }

  it("tell of new keys only, few of them, that nobody wants", () => {
    const isSmall = (forward: Partial<Forward>, ...wanted: Node[]) => feed(forward, IO.isSmall, wanted)[0];
    const small = { newRest: [state, question, first] };
    assert.equal(isSmall(small), 1);
    assert.equal(isSmall(small, state), 0);
    assert.equal(isSmall({ newPrefix: [state], newRest: [question, first] }), 0);
    assert.equal(isSmall({ pastPrefix: [state], newRest: [question, first] }), 0);
    assert.equal(isSmall({ pastRest: [state, question], newRest: [first] }), 0);
    assert.equal(isSmall({ newRest: [state, node(1, 2_000, state)] }), 0, "several chunks");
  });

  it("let each token see its own node and those above it, and nothing else", () => {
    const forward = { newRest: [state, other, question, first, second] };
    const keys = feed(forward, IO.restNodes);
    const queries = feed(forward, IO.queryNodes);
    // new tokens in order: each key stands at its token's place, as nothing is past
    const owners = [state, other, question, first, second].flatMap((one) =>
      Array.from(one.tokens, () => one),
    );
    assert.ok(keys.length > owners.length, "a filler at least");
    assert.equal(queries.length, keys.length * 3);
    for (const [query, own] of owners.entries()) {
      const visible = queries.slice(query * 3, query * 3 + 3);
      for (const [key, number] of keys.entries()) {
        const owner = owners[key];
        const may = owner !== undefined && (owner === own || nodesAbove(own).includes(owner));
        assert.equal(visible.includes(number), may, `token ${query}, key ${key}`);
      }
    }
  });

  it("read at least two tokens, the scored ones first", () => {
    const one = { newPrefix: [state], newRest: [question, first] };
    assert.equal(feed(one, IO.readAt)[0], 5);
    assert.ok(feed(one, IO.readAt).length >= 2);
    assert.deepEqual(feed({ newPrefix: [state], newRest: [question, first, second] }, IO.readAt), [5, 7]);
    assert.ok(feed({ pastPrefix: [state], newRest: [longQuestion] }, IO.readAt).length >= 2);
  });
});
