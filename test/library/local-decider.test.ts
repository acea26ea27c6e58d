import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createFastEngine, MODEL_ID } from "../../packages/conformance/test/fast-engine.ts";
import { createContractFor } from "../../src/app.ts";
import { ServiceError } from "../../src/errors.ts";
import type { EngineCore } from "../../src/inference/engine-core.ts";
import { openDecider } from "../../src/library/deciders/local-decider.ts";
import type { LocalDecider, Question } from "../../src/library/index.ts";
import { completeOptions } from "../../src/options/resolve.ts";

const ANGRY = { angry: { type: "noul", instructions: "The customer is angry." } } as const;
/** More than the engine's queue takes. */
const MANY = 300;

async function fastDecider(): Promise<{ decider: LocalDecider; engine: EngineCore }> {
  const engine = await createFastEngine();
  const contract = await createContractFor(engine);
  const options = completeOptions({ queueSize: engine.health().settings.queueCapacity });
  return { decider: openDecider({ engine, contract, options }), engine };
}

const withCode = (code: string) => (error: unknown) =>
  error instanceof ServiceError && error.code === code && error.message !== "";

describe("a decider", () => {
  let decider: LocalDecider;
  let engine: EngineCore;
  before(async () => {
    ({ decider, engine } = await fastDecider());
  });
  after(() => decider.close());

  it("answers with the members of the HTTP answer", async () => {
    const { answers, model, usage } = await decider.decide({
      state: { order: 48213, paid: true },
      questions: {
        intent: { type: "choice", instructions: "?", criteria: { refund: "Money", cancel: "Leave" } },
        ...ANGRY,
        urgency: { type: "score", instructions: "How urgent?", criteria: ["can wait", "today"] },
      },
    });
    assert.ok(["refund", "cancel"].includes(answers.intent.choice));
    assert.equal(answers.angry.noul, answers.angry.probabilities.true);
    assert.equal(answers.urgency.score, answers.urgency.probabilities[1]);
    assert.equal(model, MODEL_ID);
    assert.equal(decider.model.id, MODEL_ID);
    assert.ok(usage.total_tokens > 0);
  });

  it("ranks texts by label and in lists", async () => {
    const { ranked } = await decider.rank({
      state: "A jam.",
      question: "What helps?",
      candidates: new Map([
        ["10", "Open tray 2."],
        ["2", "Buy ink."],
      ]),
    });
    assert.deepEqual(ranked.map(({ candidate }) => candidate).sort(), ["10", "2"]);
    assert.ok((ranked[0]?.probability ?? 0) >= (ranked[1]?.probability ?? 1));
  });

  it("takes any number of calls at once and lets them share batches", async () => {
    const before = engine.health().counters;
    const calls = Array.from({ length: MANY }, (_, n) =>
      decider.decide({ state: `Message ${n}`, questions: ANGRY }),
    );
    const results = await Promise.all(calls);
    assert.equal(results.length, MANY);
    const { batches, completed, rejected } = engine.health().counters;
    assert.equal(completed - before.completed, MANY);
    assert.equal(rejected, before.rejected);
    assert.ok(batches - before.batches < MANY, `${batches} batches`);
  });

  it("keeps the order of Maps in the text of an answer", async () => {
    const questions = `{"10":{"type":"noul","instructions":"a"},"2":{"type":"noul","instructions":"b"}}`;
    const text = await decider.ask("systemone", `{"state":"x","questions":${questions}}`);
    assert.match(text, /^\{"answers":\{"10":.*"2":/);
  });

  it("refuses what the contract refuses, with the code and the issues", async () => {
    const question = { type: "choice", instructions: "?", criteria: { only: null } } satisfies Question;
    await assert.rejects(decider.decide({ state: "x", questions: { q: question } }), (error) => {
      assert.ok(withCode("INVALID_REQUEST")(error));
      const [issue] = (error as ServiceError).issues;
      assert.deepEqual(issue?.loc, ["body", "questions", "q", "criteria"]);
      return issue?.type === "too_few";
    });
  });

  const circle: { [name: string]: unknown } = {};
  circle.self = circle;
  for (const { name, state, loc } of [
    { name: "a function", state: { a: () => 1 }, loc: ["body", "state", "a"] },
    { name: "NaN", state: [Number.NaN], loc: ["body", "state", 0] },
    { name: "undefined", state: undefined, loc: ["body", "state"] },
    { name: "a bigint", state: 1n, loc: ["body", "state"] },
    { name: "a circle", state: circle, loc: ["body", "state", "self"] },
    { name: "a Set", state: new Set([1]), loc: ["body", "state"] },
  ]) {
    it(`refuses ${name} as a state and says where it is`, async () => {
      // what a program without types may pass
      const call = decider.decide({ state: state as never, questions: ANGRY });
      await assert.rejects(call, (error) => {
        assert.ok(withCode("INVALID_REQUEST")(error));
        assert.deepEqual((error as ServiceError).issues[0]?.loc, loc);
        return true;
      });
    });
  }

  it("writes dates as JSON does and leaves undefined members out", async () => {
    const state = { at: new Date(0), none: undefined } as never;
    const { usage } = await decider.decide({ state, questions: ANGRY });
    const same = await decider.decide({ state: { at: "1970-01-01T00:00:00.000Z" }, questions: ANGRY });
    assert.equal(usage.total_tokens, same.usage.total_tokens);
  });

  it("refuses a request that is too large", async () => {
    const call = decider.decide({ state: "x".repeat(2 ** 21), questions: ANGRY });
    await assert.rejects(call, withCode("BODY_TOO_LARGE"));
  });

  it("ends a call whose signal is aborted, with its reason as the cause", async () => {
    const reason = new Error("no longer needed");
    await assert.rejects(
      decider.decide({ state: "x", questions: ANGRY }, { signal: AbortSignal.abort(reason) }),
      (error) => withCode("CANCELLED")(error) && (error as Error).cause === reason,
    );
    const stop = new AbortController();
    const calls = Array.from({ length: MANY }, (_, n) =>
      decider.decide({ state: `Aborted ${n}`, questions: ANGRY }, { signal: stop.signal }),
    );
    const settled = Promise.allSettled(calls);
    stop.abort(reason);
    for (const result of await settled) {
      assert.ok(result.status === "rejected" && withCode("CANCELLED")(result.reason));
    }
    await decider.decide({ state: "still there", questions: ANGRY });
  });
});

describe("a decider that is closed", () => {
  it("answers the calls under way, then refuses others", async () => {
    const { decider } = await fastDecider();
    const calls = Array.from({ length: MANY }, (_, n) =>
      decider.decide({ state: `Message ${n}`, questions: ANGRY }),
    );
    const closing = decider.close();
    await assert.rejects(decider.decide({ state: "x", questions: ANGRY }), withCode("DRAINING"));
    await closing;
    assert.equal((await Promise.all(calls)).length, MANY);
    await decider.close();
  });

  it("is closed at the end of a block that uses it", async () => {
    let left: LocalDecider | undefined;
    {
      await using decider = (await fastDecider()).decider;
      left = decider;
      await decider.decide({ state: "x", questions: ANGRY });
    }
    await assert.rejects(left.decide({ state: "x", questions: ANGRY }), withCode("DRAINING"));
  });
});

describe("options of a decider", () => {
  for (const [name, given, message] of [
    ["an unknown option", { modle: "x" }, /there is no option "modle"/],
    ["a value of another type", { queueSize: "many" }, /queueSize: expected a number/],
    ["a value out of bounds", { queueSize: 0 }, /queueSize: expected a whole number from 1/],
    ["an unknown precision", { precision: "int4" }, /precision: expected auto, int8, fp32/],
    ["a precision of another backend", { precision: "fp16" }, /precision fp16 is not for the backend onnx/],
    ["two models", { model: "a", modelPath: "b" }, /exclude each other/],
  ] as const) {
    it(`refuse ${name}`, () => {
      assert.throws(
        () => completeOptions(given),
        (error) => withCode("INVALID_OPTION")(error) && message.test((error as Error).message),
      );
    });
  }
});
