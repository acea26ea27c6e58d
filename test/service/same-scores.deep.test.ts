import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { packageRoot } from "../support/package-root.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { type Answer, answerOf, candidates, heavy, namesIn, Service, words } from "./service.ts";

interface Vectors {
  readonly value: readonly { readonly json: string; readonly text: string }[];
  readonly state: readonly { readonly json: string; readonly text: string }[];
  readonly noul: readonly {
    readonly instructions: string;
    readonly criteria: unknown;
    readonly texts: string[];
  }[];
  readonly choice: readonly {
    readonly label: string;
    readonly description: unknown;
    readonly shown: string;
  }[];
}
const vectors: Vectors = JSON.parse(
  readFileSync(path.join(packageRoot, "test/vectors/rendering.json"), "utf8"),
);

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

  test("alone and again", async () => {
    for (const [name, question] of Object.entries(questions)) {
      const body = await service.decide({ state: STATE, questions: { [name]: question } });
      assertSame(body.answers);
    }
  });

  test("among others", async () => {
    const body = await service.decide({ state: STATE, questions });
    assertSame(body.answers);
    assert.equal(Object.keys(body.answers).length, 9);
  });

  test("in another order", async () => {
    const reversed = Object.fromEntries(Object.entries(questions).reverse());
    assertSame((await service.decide({ state: STATE, questions: reversed })).answers);
  });

  test("beside much longer ones", async () => {
    const long = { type: "score", instructions: words(300), criteria: candidates(3, 300) };
    const { answers } = await service.decide({ state: STATE, questions: { long, ...questions } });
    const { long: _, ...others } = answers;
    assertSame(others);
  });

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

test("candidates have the same scores in any order and company", async () => {
  const texts = candidates(10, 12);
  const all = await service.rankScores(STATE, "Which?", texts);
  const reversed = await service.rankScores(STATE, "Which?", texts.toReversed());
  assert.deepEqual(reversed.reverse(), all);
  assert.deepEqual(await service.rankScores(STATE, "Which?", texts.slice(3, 5)), all.slice(3, 5));
  assert.deepEqual(await strict.rankScores(STATE, "Which?", texts), all);
});

test("a ranking and a rubric of the same texts have the same scores", async () => {
  const texts = ["can wait", "this week", "today"];
  const question = { type: "score", instructions: "How urgent?", criteria: texts };
  const body = await service.decide({ state: STATE, questions: { question } });
  assert.deepEqual(
    Object.values(answerOf(body, "question").scores),
    await service.rankScores(STATE, "How urgent?", texts),
  );
});

describe("equal pairs", () => {
  const same = { type: "score", instructions: "How urgent?", criteria: ["can wait", "today"] };

  test("of one request count once, and in cached_pairs", async () => {
    const one = await service.decide({ state: STATE, questions: { a: same } });
    const three = await service.decide({ state: STATE, questions: { a: same, b: same, c: same } });
    assert.equal(one.usage.cached_pairs, 0);
    assert.equal(three.usage.cached_pairs, 4);
    assert.equal(three.usage.input_tokens, one.usage.input_tokens);
    for (const name of ["a", "b", "c"]) assert.deepEqual(answerOf(three, name), answerOf(one, "a"));
  });

  test("of two requests count again without a cache", async () => {
    const first = await service.decide({ state: STATE, questions: { a: same } });
    const second = await service.decide({ state: STATE, questions: { a: same } });
    assert.deepEqual({ ...second, latency_ms: 0 }, { ...first, latency_ms: 0 });
  });

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

describe("texts are rendered as the vectors say:", () => {
  const texts = ["one thing", "another one"];
  const looksLikeJson = (text: string): boolean => /^\s*[[{]/.test(text);

  test("states", async () => {
    for (const { json, text } of [...vectors.value, ...vectors.state]) {
      if (looksLikeJson(text)) continue;
      const body = `{"state":${json},"question":"Which?","candidates":${JSON.stringify(texts)}}`;
      const { ranked, usage } = await service.decide(body, "/v1/rank");
      const plain = await service.rank({ state: text, question: "Which?", candidates: texts });
      assert.deepEqual({ ranked, usage }, { ranked: plain.ranked, usage: plain.usage }, json);
    }
  });

  test("questions and instructions", async () => {
    for (const { json, text } of vectors.value) {
      const body = `{"state":"s","question":${json},"candidates":${JSON.stringify(texts)}}`;
      const { ranked, usage } = await service.decide(body, "/v1/rank");
      const plain = await service.rank({ state: "s", question: text, candidates: texts });
      assert.deepEqual({ ranked, usage }, { ranked: plain.ranked, usage: plain.usage }, json);
      const question = `{"type":"score","instructions":${json},"criteria":${JSON.stringify(texts)}}`;
      const decided = await service.decide(`{"state":"s","questions":{"q":${question}}}`);
      assert.deepEqual(decided.usage, usage, json);
    }
  });

  test("levels", async () => {
    for (const { json, text } of vectors.value) {
      if (text === "") continue;
      const question = `{"type":"score","instructions":"i","criteria":[${json},"another one"]}`;
      const decided = await service.decide(`{"state":"s","questions":{"q":${question}}}`);
      const scores = await service.rankScores("s", "i", [text, "another one"]);
      assert.deepEqual(Object.values(answerOf(decided, "q").scores), scores, json);
    }
  });

  test("outcomes", async () => {
    for (const { instructions, criteria, texts } of vectors.noul) {
      const question = { type: "noul", instructions, criteria };
      const decided = await service.decide({ state: "s", questions: { q: question } });
      const scores = await service.rankScores("s", instructions, texts);
      assert.deepEqual(Object.values(answerOf(decided, "q").scores), scores, JSON.stringify(criteria));
    }
  });

  test("choices", async () => {
    for (const { label, description, shown } of vectors.choice) {
      const question = { type: "choice", instructions: "i", criteria: { [label]: description, z: "last" } };
      const reply = await service.post("/v1/systemone", { state: "s", questions: { q: question } });
      assert.deepEqual(namesIn(reply.text, "scores"), [label, "z"]);
      const [first, last] = await service.rankScores("s", "i", [shown, "z: last"]);
      assert.deepEqual(answerOf(reply.body, "q").scores, { [label]: first, z: last }, shown);
    }
  });

  // Digits and texts that only the tokens of a word show.
  for (const { name, given, want } of [
    { name: "a number and its text", given: "5", want: '"5"' },
    { name: "a float keeps its point", given: "5.0", want: '"5.0"' },
    { name: "an integer keeps all digits", given: "12345678901234567890", want: '"12345678901234567890"' },
    { name: "-0", given: "-0", want: '"0"' },
    { name: "a text that holds an object", given: '"{\\"a\\":1}"', want: '{"a":1}' },
    { name: "a text that holds integer-like names", given: '"{\\"2\\":1,\\"1\\":2}"', want: '{"2":1,"1":2}' },
    { name: "a text that holds __proto__", given: '"{\\"__proto__\\":1}"', want: '"__proto__: 1"' },
    { name: "a text that holds floats", given: '"[1.0,1e16]"', want: '"- 1.0\\n- 1e+16"' },
    { name: "white space around a text", given: '" \\u0085padded\\u00a0\\n"', want: '"padded"' },
  ]) {
    test(`${name}`, async () => {
      const scored = async (state: string) => {
        const { ranked, usage } = await service.decide(
          `{"state":${state},"question":"Which?","candidates":${JSON.stringify(texts)}}`,
          "/v1/rank",
        );
        return { ranked, usage };
      };
      assert.deepEqual(await scored(given), await scored(want));
    });
  }

  test("different texts have different scores", async () => {
    const seen = new Set<number | undefined>();
    const states = [
      5,
      5.5,
      "five",
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { "2": 1 },
      [1, 2],
      [2, 1],
      null,
      true,
      false,
    ];
    for (const state of states) seen.add((await service.rankScores(state, "Which?", texts))[0]);
    assert.equal(seen.size, states.length);
  });
});
