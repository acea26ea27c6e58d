import assert from "node:assert/strict";
import { test } from "node:test";
import type { RenderedRequest } from "../../src/decisions/request.ts";
import { invalidRequest } from "../../src/errors.ts";
import type { ModelFacts } from "../../src/inference/engine.ts";
import { EngineCore, type EngineParts } from "../../src/inference/engine-core.ts";
import type { BatchFacts, EngineSettings } from "../../src/inference/queue/scheduler.ts";
import { encodeByParts, type PartEncoder, type TextPart } from "../../src/inference/tokens/part-plan.ts";
import type {
  TextRole,
  Tokenizer,
  TokenLimits,
  TooManyTokens,
} from "../../src/inference/tokens/tokenizer.ts";
import { readLetters, spellIds } from "../support/letter-tokens.ts";
import { FakeClock, settle } from "./fake-clock.ts";
import { SETTINGS } from "./queue-bench.ts";
import { ScriptedBackend, scoreOf } from "./scripted-backend.ts";

const MODEL: ModelFacts = {
  id: "example/model@0000000000000000000000000000000000000000",
  revision: "0000000000000000000000000000000000000000",
  aliases: [],
  version: "v0",
  releaseDate: "2026-01-01",
  description: "",
  temperature: 1,
  showsLabels: false,
  limits: { maxStateQuestionTokens: 8, maxCandidateTokens: 4 },
};

/** One token for each character, when the test says so. */
class HeldTokenizer implements Tokenizer, PartEncoder {
  release: () => void = () => {};
  /** Of all texts that are held. */
  readonly releases: (() => void)[] = [];
  signal: AbortSignal | undefined;
  failure: Error | undefined;
  keptState: string | undefined;
  readonly readTexts = readLetters;
  readonly spell = spellIds;

  encodeRequest(rendered: RenderedRequest, limits: TokenLimits, signal: AbortSignal) {
    return encodeByParts(rendered, limits, this, signal);
  }

  isCached(role: TextRole, text: string): boolean {
    return role === "state" && text === this.keptState;
  }

  async encodeParts(parts: readonly TextPart[], { signal }: { signal: AbortSignal }) {
    this.signal = signal;
    await new Promise<void>((resolve) => {
      this.release = resolve;
      this.releases.push(resolve);
    });
    if (this.failure !== undefined) throw this.failure;
    return parts.map(({ text, maxTokens }): Int32Array | TooManyTokens => {
      if (text.length > maxTokens) return { count: text.length, isExact: true };
      return Int32Array.from(text, (character) => character.charCodeAt(0));
    });
  }
}

function request(state: string, question: string, ...candidates: string[]): RenderedRequest {
  return {
    state: { text: state, loc: ["body", "state"] },
    questions: [
      {
        question: { text: question, loc: ["body", "question"] },
        candidates: candidates.map((text, at) => ({ text, label: `${at}`, loc: ["body", "candidates", at] })),
      },
    ],
  };
}

function makeBench(settings: Partial<EngineSettings> = {}, more: Partial<EngineParts> = {}) {
  const bench = { clock: new FakeClock(), backend: new ScriptedBackend(), tokenizer: new HeldTokenizer() };
  const info = { backend: "scripted", device: "cpu", precision: "fp32" };
  const engine = new EngineCore({
    model: MODEL,
    settings: { ...SETTINGS, ...settings },
    info,
    ...bench,
    ...more,
  });
  return { ...bench, engine, caller: new AbortController() };
}

test("a request is admitted, tokenized, scored, and its times add up", async () => {
  const { engine, backend, tokenizer, clock, caller } = makeBench();
  await engine.start();
  const answer = engine.score(request("st", "q", "a", "bc"), caller.signal);
  clock.advance(2);
  tokenizer.release();
  await settle();
  clock.advance(5);
  backend.current?.answer();
  const { scores, ...rest } = await answer;
  assert.deepEqual([...(scores[0] ?? [])], ["115 116 | 113 | 97", "115 116 | 113 | 98 99"].map(scoreOf));
  assert.deepEqual(rest, {
    inputTokens: 4 + 5,
    cachedPairs: 0,
    timing: { queue: 0, tokenize: 2, inference: 5 },
  });
});

test("for a model that computes each pair by itself, shared tokens count in every pair", async () => {
  const { engine, backend, tokenizer, caller } = makeBench({}, { sharesTokens: false });
  const batches: BatchFacts[] = [];
  engine.onBatch((batch) => batches.push(batch));
  await engine.start();
  const answer = engine.score(request("st", "q", "a", "bc"), caller.signal);
  tokenizer.release();
  await settle();
  backend.current?.answer();
  const { scores, inputTokens } = await answer;
  assert.deepEqual([...(scores[0] ?? [])], [" |  | 115 116 113 97", " |  | 115 116 113 98 99"].map(scoreOf));
  assert.equal(inputTokens, 4 + 5);
  assert.deepEqual(
    batches.map(({ pairs, tokens }) => ({ pairs, tokens })),
    [{ pairs: 2, tokens: 4 + 5 }],
  );
});

test("work on several states has one place, and the scores of one behind the other", async () => {
  const { engine, backend, tokenizer, caller } = makeBench({ queueCapacity: 1 });
  await engine.start();
  const prepare = async () => [request("s", "q", "a", "b"), request("t", "q", "a")];
  const answer = engine.scoreAll({ prepare }, caller.signal);
  assert.equal(engine.health().counters.queued, 1);
  await settle();
  const releases = tokenizer.releases.splice(0);
  assert.equal(releases.length, 2);
  for (const release of releases) release();
  await settle();
  backend.current?.answer();
  const { scores } = await answer;
  assert.deepEqual(
    scores.map((ofQuestion) => [...ofQuestion]),
    [["115 | 113 | 97", "115 | 113 | 98"].map(scoreOf), [scoreOf("116 | 113 | 97")]],
  );
  assert.equal(engine.health().counters.completed, 1);
});

test("work with refused texts gives its place back and ends when its caller disconnects", async () => {
  const { engine, caller } = makeBench({ queueCapacity: 1 });
  await engine.start();
  const refused = engine.scoreAll({ prepare: () => Promise.reject(invalidRequest([])) }, caller.signal);
  await assert.rejects(refused, { kind: "INVALID_REQUEST" });
  assert.equal(engine.health().counters.queued, 0);
  let ended: AbortSignal | undefined;
  const prepare = (_: unknown, signal: AbortSignal) => {
    ended = signal;
    return new Promise<never>(() => {});
  };
  const left = engine.scoreAll({ prepare }, caller.signal);
  caller.abort();
  await assert.rejects(left, { kind: "CANCELLED" });
  assert.equal(ended?.aborted, true);
});

test("a full queue is reported before token limits, and a refusal by token limits gives the place back", async () => {
  const { engine, tokenizer, caller } = makeBench({ queueCapacity: 1 });
  await engine.start();
  const tooLong = engine.score(request("state that is long", "q", "a", "b"), caller.signal);
  await assert.rejects(engine.score(request("state that is long", "q", "a", "b"), caller.signal), {
    kind: "QUEUE_FULL",
  });
  tokenizer.release();
  await assert.rejects(tooLong, { kind: "INVALID_REQUEST" });
  const { queued, rejected, failed } = engine.health().counters;
  assert.deepEqual([queued, rejected, failed], [0, 1, 0]);
});

test("a query whether the queue is full counts no rejection until a request is refused", async () => {
  const { engine, tokenizer, caller } = makeBench({ queueCapacity: 1 });
  const full = [engine.isFull()];
  await engine.start();
  full.push(engine.isFull());
  const waiting = engine.score(request("state that is long", "q", "a", "b"), caller.signal);
  full.push(engine.isFull());
  assert.equal(engine.health().counters.rejected, 0);
  engine.countEarly("rejected");
  assert.equal(engine.health().counters.rejected, 1);
  tokenizer.release();
  await assert.rejects(waiting, { kind: "INVALID_REQUEST" });
  full.push(engine.isFull());
  await engine.drain();
  full.push(engine.isFull());
  assert.deepEqual(full, [false, false, true, false, false]);
});

test("deadline and departure are answered while the request is tokenized, which then ends early", async () => {
  const { engine, tokenizer, clock, caller } = makeBench({ deadlineMs: 10 });
  await engine.start();
  const late = engine.score(request("s", "q", "a", "b"), caller.signal);
  clock.advance(10);
  await assert.rejects(late, { kind: "DEADLINE_EXCEEDED" });
  assert.equal(tokenizer.signal?.aborted, true);
  const left = engine.score(request("s", "q", "a", "b"), caller.signal);
  caller.abort();
  await assert.rejects(left, { kind: "CANCELLED" });
  assert.equal(tokenizer.signal?.aborted, true);
});

test("the deadline counts from a request's arrival, and none is admitted after it", async () => {
  const { engine, tokenizer, clock, caller } = makeBench({ deadlineMs: 10 });
  await engine.start();
  clock.advance(100);
  const arrivedAt = 97; // its body took 3 ms
  const late = engine.score(request("s", "q", "a", "b"), caller.signal, { arrivedAt });
  clock.advance(6);
  assert.equal(tokenizer.signal?.aborted, false);
  clock.advance(1);
  await assert.rejects(late, { kind: "DEADLINE_EXCEEDED" });
  await assert.rejects(engine.score(request("s", "q", "a", "b"), caller.signal, { arrivedAt }), {
    kind: "DEADLINE_EXCEEDED",
  });
  const { timedOut, rejected, queued } = engine.health().counters;
  assert.deepEqual([timedOut, rejected, queued], [2, 0, 0]);
});

test("a tokenizer that breaks fails its request only", async () => {
  const { engine, tokenizer, caller } = makeBench();
  await engine.start();
  const answer = engine.score(request("s", "q", "a", "b"), caller.signal);
  tokenizer.failure = new Error("broken");
  tokenizer.release();
  await assert.rejects(answer, /broken/);
  assert.equal(engine.health().counters.failed, 1);
});

test("status follows the backend and a drain", async () => {
  const { engine, backend, clock, caller } = makeBench();
  assert.equal(engine.health().status, "starting");
  await assert.rejects(engine.score(request("s", "q", "a", "b"), caller.signal), { kind: "STARTING" });
  await engine.start();
  clock.advance(1500);
  assert.deepEqual([engine.health().status, engine.health().uptimeSeconds], ["ready", 1.5]);
  backend.isReady = false;
  assert.equal(engine.health().status, "starting");
  backend.isReady = true;
  await engine.drain();
  assert.equal(engine.health().status, "draining");
  await assert.rejects(engine.score(request("s", "q", "a", "b"), caller.signal), { kind: "DRAINING" });
  await engine.close();
  assert.equal(backend.isClosed, true);
});

test("a backend that does not start leaves the engine failed", async () => {
  const { engine, backend, caller } = makeBench();
  backend.startFailure = new Error("no such model");
  await assert.rejects(engine.start(), /no such model/);
  assert.equal(engine.health().status, "failed");
  await assert.rejects(engine.score(request("s", "q", "a", "b"), caller.signal), { kind: "BACKEND_FAILED" });
});

test("a drain while the model loads stays a drain when it has loaded", async () => {
  const { engine, caller } = makeBench();
  const started = engine.start();
  await engine.drain();
  await started;
  assert.equal(engine.health().status, "draining");
  await assert.rejects(engine.score(request("s", "q", "a", "b"), caller.signal), { kind: "DRAINING" });
});

test("a listener for batches that throws is logged, and the request is answered by the first try", async () => {
  const clock = new FakeClock();
  const backend = new ScriptedBackend();
  const tokenizer = new HeldTokenizer();
  const logged: unknown[] = [];
  const engine = new EngineCore({
    model: MODEL,
    settings: SETTINGS,
    info: { backend: "scripted", device: "cpu", precision: "fp32" },
    log: (event, { observer }) => logged.push([event, observer]),
    ...{ clock, backend, tokenizer },
  });
  engine.onBatch(() => {
    throw new Error("a fault of the metrics");
  });
  await engine.start();
  const scored = engine.score(request("s", "q", "a", "b"), new AbortController().signal);
  tokenizer.release();
  await settle();
  backend.current?.answer();
  assert.equal((await scored).scores[0]?.length, 2);
  assert.deepEqual(logged, [["an observer has failed", "batches"]]);
  assert.equal(engine.health().counters.batches, 1);
});
