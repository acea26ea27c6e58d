import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../../src/errors.ts";
import { settle } from "./fake-clock.ts";
import { type Asked, flatTree, outcomeOf, QueueBench } from "./queue-bench.ts";

/** Milliseconds that the backend of these tests takes for a token. */
const MS_PER_TOKEN = 1;

/** The queue over a backend of constant speed that keeps all states, one batch after the other. */
class SlowBench extends QueueBench {
  readonly #kept = new Set<string>();

  /** Ends the batch that is computed, at its time. */
  async computeOne(msPerToken = MS_PER_TOKEN): Promise<void> {
    const call = this.backend.current;
    if (call === undefined) return;
    const tokens = call.forest.reduce(
      (sum, { state, questions }) =>
        sum +
        state.length +
        questions.reduce(
          (below, question) =>
            below + question.tokens.length + question.candidates.reduce((all, { length }) => all + length, 0),
          0,
        ),
      0,
    );
    const known = call.forest.reduce((sum, { state }) => sum + this.#knownTokensOf(state), 0);
    this.clock.advance((tokens - known) * msPerToken);
    if (this.backend.current === call) call.answer(undefined, undefined, known);
    await settle();
  }

  #knownTokensOf(state: Int32Array): number {
    const name = `${state}`;
    if (this.#kept.has(name)) return state.length;
    this.#kept.add(name);
    return 0;
  }

  /** Lets the queue learn how fast the backend is. */
  async measure(): Promise<void> {
    for (let run = 0; run < 4; run++) {
      this.ask(flatTree(900 + run, 10));
      await this.computeOne();
    }
  }

  async computeAll(): Promise<void> {
    for (let guard = 0; this.backend.current !== undefined; guard++) {
      assert.ok(guard < 10_000);
      await this.computeOne();
    }
  }
}

function retryAfter({ answers: [answer] }: Asked): number | undefined {
  return answer instanceof ServiceError ? answer.retryAfterSeconds : undefined;
}

/** 10 + 10 + 98 * 20 tokens: 1,980 ms. */
const heavy = (id: number) => flatTree(id, 98);

test("a request that cannot be answered before the deadline is refused at once, with the seconds to wait", async () => {
  const bench = new SlowBench({ queueCapacity: 100, deadlineMs: 10_000 });
  await bench.measure();
  const asked = Array.from({ length: 20 }, (_, at) => bench.ask(heavy(at + 1)));
  await settle();
  const isRefused = asked.map((each) => outcomeOf(each) === "OVERLOADED");
  const accepted = isRefused.indexOf(true);
  assert.ok(accepted >= 3 && accepted <= 5, `${accepted} of 2 s each fit into 10 s`);
  assert.ok(isRefused.slice(accepted).every(Boolean), "a later one of the same size is accepted");
  const seconds = asked.slice(accepted).map((each) => retryAfter(each) ?? 0);
  for (const [at, each] of seconds.entries()) {
    const before = at === 0 ? 1 : (seconds[at - 1] ?? 0);
    assert.ok(each >= before && each <= before + 5, `callers come back one after the other: ${seconds}`);
  }
  assert.ok(new Set(seconds).size > 10 && Math.max(...seconds) <= 62, `${seconds}`);
  assert.equal(bench.scheduler.counters().rejected, seconds.length);
  await bench.computeAll();
  assert.ok(asked.slice(0, accepted).every((each) => outcomeOf(each) === "completed"));
});

test("a request with an empty queue in front is tried, however long its forecast", async () => {
  const bench = new SlowBench({ deadlineMs: 2_300 });
  await bench.measure();
  const asked = bench.ask(heavy(1)); // 1.25 * 1,980 ms would be too long
  await bench.computeAll();
  assert.equal(outcomeOf(asked), "completed");
});

test("when the backend slows down, requests that have not begun are refused, and those that have begun continue", async () => {
  const bench = new SlowBench({ queueCapacity: 100, deadlineMs: 40_000 });
  await bench.measure();
  const asked = Array.from({ length: 12 }, (_, at) => bench.ask(heavy(at + 1)));
  await settle();
  assert.ok(asked.every((each) => outcomeOf(each) === "open"));
  for (let batch = 0; batch < 6; batch++) await bench.computeOne(5);
  const ends = asked.map(outcomeOf);
  assert.ok(ends.includes("OVERLOADED"), `${ends}`);
  assert.notEqual(ends[0], "OVERLOADED");
  while (bench.backend.current !== undefined) await bench.computeOne(5);
  const late = asked.filter((each) => outcomeOf(each) === "DEADLINE_EXCEEDED");
  assert.ok(late.length <= 1, `one may begin before the slowness is known: ${asked.map(outcomeOf)}`);
});

test("without measurements, no request is refused", async () => {
  const bench = new SlowBench({ queueCapacity: 100, deadlineMs: 10 });
  const asked = Array.from({ length: 50 }, (_, at) => bench.ask(heavy(at + 1)));
  await settle();
  assert.ok(asked.every((each) => outcomeOf(each) === "open"));
});

test("a short request is admitted while long ones fill the queue up to the deadline", async () => {
  const bench = new SlowBench({ queueCapacity: 100, deadlineMs: 10_000 });
  await bench.measure();
  for (let at = 0; at < 20; at++) bench.ask(heavy(at + 1));
  const short = bench.ask(flatTree(50, 1)); // 40 tokens
  const startedAt = bench.clock.now();
  while (outcomeOf(short) === "open") await bench.computeOne();
  assert.equal(outcomeOf(short), "completed");
  assert.ok(bench.clock.now() - startedAt < 1_500, `${bench.clock.now() - startedAt}`);
});

test("the estimated wait is the time of all tokens that wait and run", async () => {
  const bench = new SlowBench({ queueCapacity: 100 });
  assert.equal(bench.scheduler.counters().estimatedWaitMs, 0);
  await bench.measure();
  for (let at = 0; at < 3; at++) bench.ask(heavy(at + 1));
  const { estimatedWaitMs } = bench.scheduler.counters();
  assert.ok(estimatedWaitMs > 0.9 * 3 * 1980 && estimatedWaitMs < 1.1 * 3 * 1980, `${estimatedWaitMs}`);
});
