import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { IncomingCall } from "../../src/contract/call.ts";
import { begin } from "../../src/contract/inference.ts";
import { type ErrorKind, ServiceError } from "../../src/errors.ts";
import type { Engine, ScoredRequest, ScoreOptions } from "../../src/inference/engine.ts";
import { FakeClock } from "../inference/fake-clock.ts";

const text = (content: string) => ({ text: content, loc: ["body"] });
const REQUEST = {
  state: text("s"),
  questions: [{ question: text("q"), candidates: ["a", "b"].map((label) => ({ ...text(label), label })) }],
};
const OPERATION = {
  read: () => ({ texts: [REQUEST], facts: "facts" }),
  answer: (facts: unknown, { scores }: { readonly scores: readonly Float32Array[] }) => ({
    body: { facts, scores },
  }),
};
const SCORED: ScoredRequest = {
  scores: [Float32Array.of(1, 2)],
  inputTokens: 40,
  cachedPairs: 1,
  timing: { queue: 1, tokenize: 2, inference: 3 },
};

/** Runs the operation over an engine that finds 100 tokens and then ends as told. */
async function run(end: () => Promise<ScoredRequest>, call: Partial<IncomingCall> = {}) {
  const given: unknown[] = [];
  const score = async (_: unknown, signal: AbortSignal, options: ScoreOptions = {}) => {
    given.push(signal, options.arrivedAt);
    options.onTokens?.(100);
    return end();
  };
  const engine = { model: { id: "m" }, score } as unknown as Engine; // the runner uses nothing else here
  const services = { engine, clock: new FakeClock(), modelNames: [] };
  const { signal } = new AbortController();
  const { reply } = await begin(OPERATION, {}, { requestId: "r", signal, ...call }, services);
  return { reply: await reply, given, signal };
}

/** The limits of a key, of which only the tokens are counted. */
function tokenAccount() {
  const account = {
    used: 0,
    takeRequest: () => {},
    takeTokens(tokens: number) {
      account.used += tokens;
      return (part: number) => {
        account.used -= part;
      };
    },
  };
  return account;
}

describe("an operation that asks the model", () => {
  it("is scored for its caller and from its arrival, and tells its times", async () => {
    const { reply, given, signal } = await run(async () => SCORED, { arrivedAt: 7 });
    assert.deepEqual(given, [signal, 7]);
    assert.deepEqual(reply.body, { facts: "facts", scores: SCORED.scores });
    const times = "queue;dur=1.000, tokenize;dur=2.000, inference;dur=3.000, total;dur=0.000";
    assert.deepEqual(reply.headers, { "server-timing": times });
  });

  it("tells its facts once", async () => {
    const told: unknown[] = [];
    await run(async () => SCORED, { onInference: (facts) => told.push(facts) });
    const { inputTokens, cachedPairs, timing } = SCORED;
    assert.deepEqual(told, [
      { questions: 1, pairs: 2, inputTokens, cachedPairs, indistinct: 0, timing, startedAt: 0 },
    ]);
  });

  it("costs its key the tokens of the computed pairs", async () => {
    const account = tokenAccount();
    await run(async () => SCORED, { account });
    assert.equal(account.used, 40);
  });

  for (const [kind, used] of [
    ["QUEUE_FULL", 0],
    ["OVERLOADED", 0],
    ["DRAINING", 0],
    ["BACKEND_FAILED", 0],
    ["CANCELLED", 100],
    ["DEADLINE_EXCEEDED", 100],
  ] satisfies [ErrorKind, number][]) {
    it(`costs its key ${used} of 100 tokens where it ends with ${kind}`, async () => {
      const account = tokenAccount();
      const end = () => Promise.reject(new ServiceError(kind, "so"));
      await assert.rejects(run(end, { account }), { kind });
      assert.equal(account.used, used);
    });
  }
});
