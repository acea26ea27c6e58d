import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { seededRandom } from "../support/seeded-random.ts";
import { type Answer, answerOf, candidates, heavy, Service } from "./service.ts";

let service: Service;
let strict: Service;
let caching: Service;
before(async () => {
  [service, strict, caching] = await Promise.all([
    Service.start(),
    Service.start(["--strict"]),
    Service.start(["--cache-size", "50", "--state-cache-mb", "0"]),
  ]);
});
after(async () => {
  assert.deepEqual(await Promise.all([service.stop(), strict.stop(), caching.stop()]), [0, 0, 0]);
});

/** Questions of all types and many lengths, the same for a seed. */
function someQuestions(count: number, seed: number): Record<string, object> {
  const random = seededRandom(seed);
  const text = (most: number): string =>
    Array.from({ length: 1 + random.below(most) }, () => String.fromCharCode(97 + random.below(26))).join(
      " ",
    );
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const texts = Array.from({ length: 2 + random.below(5) }, (_, i) => `${i} ${text(40)}`);
      const instructions = text(60);
      const question = [
        { type: "score", instructions, criteria: texts },
        { type: "choice", instructions, criteria: Object.fromEntries(texts.map((t, i) => [`l${i}`, t])) },
        { type: "noul", instructions },
      ][index % 3];
      assert.ok(question);
      return [`q${index}`, question];
    }),
  );
}

const STATE = "The parcel was sent on Monday and has not arrived. ".repeat(4);

describe("a question has the same scores, bit for bit,", () => {
  const questions = someQuestions(9, 7);
  const alone: Record<string, Answer> = {};
  before(async () => {
    for (const [name, question] of Object.entries(questions)) {
      const body = await service.decide({ state: STATE, questions: { [name]: question } });
      alone[name] = answerOf(body, name);
    }
  });
  const assertSame = (answers: Readonly<Record<string, Answer>>): void => {
    for (const [name, answer] of Object.entries(answers)) assert.deepEqual(answer, alone[name], name);
  };

  test("while others are served", async () => {
    const others = [1, 2].map((seed) => service.decide(heavy(1, seed)));
    const replies = Object.entries(questions).flatMap(([name, question]) =>
      [0, 1].map(() => service.decide({ state: STATE, questions: { [name]: question } })),
    );
    const mixed = Array.from({ length: 6 }, (_, seed) =>
      service.decide({ state: `${seed}`, questions: someQuestions(3, seed) }),
    );
    for (const body of await Promise.all(replies)) assertSame(body.answers);
    await Promise.all([...others, ...mixed]);
  });

  test("with --strict, and from a cache that was filled by others", async () => {
    assertSame((await strict.decide({ state: STATE, questions })).answers);
    const reversed = Object.fromEntries(Object.entries(questions).reverse());
    for (const given of [questions, reversed, questions])
      assertSame((await caching.decide({ state: STATE, questions: given })).answers);
    for (const [name, question] of Object.entries(questions))
      assertSame((await caching.decide({ state: STATE, questions: { [name]: question } })).answers);
  });
});

test("a long state has the same scores cold, warm, and where states are not kept", async () => {
  const body = { state: STATE.repeat(5), questions: someQuestions(3, 11) };
  const [cold, warm, off] = [
    await service.decide(body),
    await service.decide(body),
    await caching.decide(body),
  ];
  assert.deepEqual([warm.answers, off.answers], [cold.answers, cold.answers]);
});

describe("equal pairs", () => {
  const same = { type: "score", instructions: "How urgent?", criteria: ["can wait", "today"] };

  test("come from the cache, whatever the question's type and form", async () => {
    const given = { state: { order: 1 }, questions: { a: { ...same, instructions: "fresh" } } };
    const before = await caching.health();
    const first = await caching.decide(given);
    const second = await caching.decide(given);
    const ranked = await caching.rank({
      state: "order: 1",
      question: "fresh",
      candidates: ["today", "can wait", "z"],
    });
    assert.equal(first.usage.cached_pairs, 0);
    assert.ok(first.usage.input_tokens > 0);
    assert.deepEqual(second.usage, { input_tokens: 0, output_tokens: 0, total_tokens: 0, cached_pairs: 2 });
    assert.deepEqual(second.answers, first.answers);
    assert.equal(ranked.usage.cached_pairs, 2);
    assert.ok(ranked.usage.input_tokens > 0);
    const after = await caching.health();
    assert.equal(Number(after.cache_hits) - Number(before.cache_hits), 4);
    assert.equal(after.cache_size, 50);
  });

  test("leave the cache when it is full", async () => {
    for (let seed = 0; seed < 3; seed += 1)
      await caching.rank({ state: `${seed}`, candidates: candidates(30) });
    const { cache_entries } = await caching.health();
    assert.ok(Number(cache_entries) <= 50 && Number(cache_entries) > 0, String(cache_entries));
    assert.equal((await caching.rank({ state: "0", candidates: candidates(30) })).usage.cached_pairs, 0);
  });

  test("of one request are found in a cache that is smaller than it", async () => {
    const body = await caching.decide({
      state: "small cache",
      questions: { a: { ...same, criteria: candidates(60) }, b: { ...same, criteria: candidates(60) } },
    });
    assert.equal(body.usage.cached_pairs, 60);
    assert.deepEqual(answerOf(body, "a"), answerOf(body, "b"));
  });
});
