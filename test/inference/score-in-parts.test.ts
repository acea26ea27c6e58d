import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RenderedRequest } from "../../src/decisions/rendered.ts";
import type { Engine, ScoredRequest } from "../../src/inference/ports.ts";
import { scoreInParts } from "../../src/inference/score-in-parts.ts";
import { FakeClock, settle } from "./fake-clock.ts";

const part = (name: string): RenderedRequest => ({ state: { text: name, loc: [] }, questions: [] });
const scored = (value: number): ScoredRequest => ({
  scores: [Float32Array.of(value)],
  inputTokens: value,
  cachedPairs: 1,
  timing: { queue: 1, tokenize: 2, inference: 3 },
});

/** An engine that notes what it is asked; its queue is full while `queued` is 1. */
function fakeEngine() {
  const asked: string[] = [];
  const state = { queued: 0 };
  const engine = {
    health: () => ({ settings: { queueCapacity: 1, deadlineMs: 1000 }, counters: { queued: state.queued } }),
    score: async ({ state }: RenderedRequest) => {
      asked.push(state.text);
      return scored(Number(state.text));
    },
  } as unknown as Engine; // what scoreInParts uses of one
  return { engine, asked, state };
}

describe("scoring in parts", () => {
  it("asks for one part after the other and adds up what they took", async () => {
    const { engine, asked } = fakeEngine();
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const result = await scoreInParts({ engine, clock }, [part("1"), part("2")], signal);
    assert.deepEqual(asked, ["1", "2"]);
    assert.deepEqual(result, {
      scores: [[Float32Array.of(1)], [Float32Array.of(2)]],
      inputTokens: 3,
      cachedPairs: 2,
      timing: { queue: 2, tokenize: 4, inference: 6 },
    });
  });

  it("gives no scores for no parts", async () => {
    const { engine } = fakeEngine();
    const { signal } = new AbortController();
    assert.deepEqual((await scoreInParts({ engine, clock: new FakeClock() }, [], signal)).scores, []);
  });

  it("waits for places once its first part was let in", async () => {
    const { engine, asked, state } = fakeEngine();
    const clock = new FakeClock();
    state.queued = 1;
    const scoring = scoreInParts({ engine, clock }, [part("1"), part("2")], new AbortController().signal);
    await settle();
    assert.deepEqual(asked, ["1"]); // the engine itself would have refused it
    state.queued = 0;
    clock.advance(10);
    await scoring;
    assert.deepEqual(asked, ["1", "2"]);
  });

  it("waits until the deadline of the whole request, or until the caller leaves", async () => {
    for (const { kind, end } of [
      { kind: "DEADLINE_EXCEEDED", end: (clock: FakeClock) => clock.advance(1000) },
      {
        kind: "CANCELLED",
        end: (clock: FakeClock, caller: AbortController) => {
          caller.abort();
          clock.advance(10);
        },
      },
    ]) {
      const { engine, asked, state } = fakeEngine();
      const clock = new FakeClock();
      const caller = new AbortController();
      state.queued = 1;
      const scoring = scoreInParts({ engine, clock }, [part("1"), part("2")], caller.signal);
      const refused = assert.rejects(scoring, { kind });
      await settle();
      for (let step = 0; step < 3; step += 1) {
        end(clock, caller);
        await settle();
      }
      await refused;
      assert.deepEqual(asked, ["1"]);
    }
  });
});
