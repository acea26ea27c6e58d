import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Forward, Node } from "../../src/backends/onnx/forward-plan.ts";
import { cutQueries, forwardInputs } from "../../src/backends/onnx/forward-tensors.ts";
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
  above,
});
/** Zeros for every node encoded earlier. */
const zeros = ({ tokens: { length } }: Node) => ({
  tokens: length,
  keys: [new Float32Array(2 * length * 4)],
  values: [new Float32Array(2 * length * 5)],
});

function feed(forward: Partial<Forward>, name: string): number[] {
  const whole = { pastPrefix: [], pastRest: [], newPrefix: [], newRest: [], ...forward };
  const data = forwardInputs(whole, shape, zeros).feeds[name]?.data ?? [];
  return Array.from(data, Number);
}

describe("the inputs of a forward", () => {
  const [state, other] = [node(0, 3), node(0, 4)];
  const question = node(1, 2, state);
  const [first, second] = [node(2, 2, state, question), node(2, 3, state, question)];
  const otherQuestion = node(1, 2, other);
  const longQuestion = node(1, 130, state);
  const below = node(2, 2, state, longQuestion);

  const cases: { name: string; forward: Partial<Forward>; sees: boolean }[] = [
    {
      name: "one state with all that is below it",
      forward: { newPrefix: [state], newRest: [question, first, second] },
      sees: true,
    },
    {
      name: "what is below a state that was encoded earlier",
      forward: { pastPrefix: [state], newRest: [question, first] },
      sees: true,
    },
    {
      name: "a candidate below a state and its long question",
      forward: { pastPrefix: [state, longQuestion], newRest: [below] },
      sees: true,
    },
    {
      name: "two states",
      forward: { newPrefix: [state, other], newRest: [question, otherQuestion] },
      sees: false,
    },
    {
      name: "two states, one of them encoded earlier",
      forward: { pastPrefix: [other], newPrefix: [state], newRest: [question] },
      sees: false,
    },
    {
      name: "two states encoded earlier",
      forward: { pastPrefix: [state, other], newRest: [question] },
      sees: false,
    },
    {
      name: "a new state beside one node of another state",
      forward: { newPrefix: [state], pastPrefix: [], newRest: [question, otherQuestion] },
      sees: false,
    },
    {
      name: "a new state with its question in the prefix: the state does not see the question",
      forward: { newPrefix: [state, longQuestion], newRest: [below] },
      sees: false,
    },
    {
      name: "a question behind another question of the same state",
      forward: { pastPrefix: [state, longQuestion], newRest: [question] },
      sees: false,
    },
  ];
  for (const { name, forward, sees } of cases) {
    it(`${sees ? "need no mask" : "mask the prefix"}: ${name}`, () => {
      assert.deepEqual(feed(forward, IO.seesPrefix), [sees ? 1 : 0]);
    });
  }

  it("let each token see its own node and those above it, and nothing else", () => {
    const forward = { newPrefix: [state, other], newRest: [question, first, second] };
    const keys = [...feed(forward, IO.prefixNodes), ...feed(forward, IO.restNodes)];
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
        const may = owner !== undefined && (owner === own || own.above.includes(owner));
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
