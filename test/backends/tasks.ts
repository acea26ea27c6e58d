import assert from "node:assert/strict";
import type { WorkerPool } from "../../src/backends/onnx/forwards/worker-pool.ts";
import type { Forward, ForwardTask } from "../../src/backends/tensors/forward.ts";
import type { Node } from "../../src/inference/nodes.ts";
import { bitsOf } from "../support/bits.ts";
import { seededRandom } from "../support/seeded-random.ts";

const random = seededRandom(5);
const tokens = (count: number) => Int32Array.from({ length: count }, () => 1000 + random.below(28_000));
export const node = (level: Node["level"], count: number, above: readonly Node[] = []): Node => ({
  level,
  tokens: tokens(count),
  key: "",
  parent: above.at(-1),
});
export const forward = (parts: Partial<Forward>): Forward => ({
  pastPrefix: [],
  pastRest: [],
  newPrefix: [],
  newRest: [],
  ...parts,
});

/** A state with its question, and one forward per candidate, which needs both. */
export function manyCandidates(count: number): {
  readonly first: ForwardTask;
  readonly others: ForwardTask[];
} {
  const state = node(0, 100);
  const question = node(1, 10, [state]);
  const candidate = () => node(2, 20, [state, question]);
  return {
    first: { forward: forward({ newPrefix: [state], newRest: [question] }), wanted: [state, question] },
    others: Array.from({ length: count }, () => ({
      forward: forward({ pastPrefix: [state], pastRest: [question], newRest: [candidate()] }),
      wanted: [],
    })),
  };
}

export async function scoresOf(pool: WorkerPool, { first, others }: ReturnType<typeof manyCandidates>) {
  const results = await pool.run([first], new Map(), "together");
  const keyValues = results.get(first)?.keyValues ?? [];
  const known = new Map(first.wanted.map((wanted, i) => [wanted, keyValues[i] ?? assert.fail("not kept")]));
  const scored = await pool.run(others, known, "together");
  return others.flatMap((task) => bitsOf(scored.get(task)?.scores ?? assert.fail("not run")));
}
