import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { FastService } from "./fast-client.ts";
import { words } from "./service.ts";

const service = await FastService.start();
after(() => service.stop());

// Counts of tokens, which the conformance checks cannot know: special tokens depend on the tokenizer.
describe("tokens:", () => {
  // [CLS] state [SEP] question [SEP], and [CLS] candidate [SEP]: seen through usage, which counts whole pairs.
  test("a state and a question of 2,048 tokens together are taken, one more is refused", async () => {
    for (const [state, question] of [
      [words(2045), ""],
      ["", words(2045)],
    ] as const) {
      const body = await service.rank({ state, question, candidates: ["a", "b"] });
      assert.equal(body.usage.input_tokens, 2 * (2048 + 3));
      for (const more of [{ state: `${state} go`.trim() }, { question: `${question} go`.trim() }])
        await service.refused("/v1/rank", { state, question, ...more, candidates: ["a", "b"] });
    }
  });

  test("the bound holds for each question of a request", async () => {
    const at = { type: "choice", instructions: words(45), criteria: { a: null, b: null } };
    const past = { ...at, instructions: words(46) };
    const body = await service.decide({ state: words(2000), questions: { at } });
    assert.equal(body.usage.input_tokens, 2 * (2048 + 3));
    for (const questions of [{ past }, { at, past }, { past, at }]) {
      const issues = await service.refused("/v1/systemone", { state: words(2000), questions });
      assert.equal(issues.length, 1, JSON.stringify(issues));
    }
  });

  const asked = (q: object) => ({ state: "s", questions: { q: { instructions: null, ...q } } });
  for (const [name, bound, given] of [
    ["a ranking", 766, (text: string) => ({ state: "s", candidates: ["a", text] })],
    ["a level", 766, (text: string) => asked({ type: "score", criteria: ["a", text] })],
    [
      "a description, which is shown behind its label",
      764,
      (text: string) => asked({ type: "choice", criteria: { a: null, x: text } }),
    ],
    [
      "a label that stands for its description",
      766,
      (text: string) => asked({ type: "choice", criteria: { a: null, [text]: null } }),
    ],
  ] as const) {
    test(`a candidate of 768 tokens is taken, one more is refused: ${name}`, async () => {
      const target = "questions" in given("") ? "/v1/systemone" : "/v1/rank";
      const { usage } = await service.decide(given(words(bound)), target);
      assert.equal(usage.input_tokens, 2 * 4 + 3 + 768);
      await service.refused(target, given(words(bound + 1)));
    });
  }

  test("an outcome is counted with its name and its default text", async () => {
    const question = { type: "noul", instructions: words(300), criteria: { true: words(764) } };
    const body = await service.decide({ state: "s", questions: { q: question } });
    // "false: No. This is false: " and 300 words: false : no . this is false : = 8
    assert.equal(body.usage.input_tokens, 2 * (4 + 300) + (2 + 8 + 300) + 768);
    const longer = { ...question, criteria: { true: words(765) } };
    await service.refused("/v1/systemone", { state: "s", questions: { q: longer } });
    const default_ = { type: "noul", instructions: words(759) };
    await service.refused("/v1/systemone", { state: "s", questions: { q: default_ } });
    await service.decide({ state: "s", questions: { q: { ...default_, instructions: words(758) } } });
  });

  test("usage adds the tokens of all pairs, each at its full length", async () => {
    const { usage } = await service.decide({
      state: "go go go",
      questions: {
        a: { type: "choice", instructions: "go go", criteria: { a: null, b: "go" } },
        b: { type: "score", instructions: null, criteria: ["go", "go go", "go go go"] },
      },
    });
    assert.equal(usage.input_tokens, 2 * (5 + 3) + 3 + 5 + 3 * (5 + 1) + 3 + 4 + 5);
  });

  test("a part over its limit is refused at any position, with its place", async () => {
    const long = words(800);
    const issues = await service.refused("/v1/systemone", {
      state: "s",
      questions: { q: { type: "score", instructions: "i", criteria: ["a", "b", long] } },
    });
    assert.deepEqual(issues[0]?.loc, ["body", "questions", "q", "criteria", 2]);
    const [ranked] = await service.refused("/v1/rank", { state: "s", candidates: { a: "a", b: long } });
    assert.deepEqual(ranked?.loc, ["body", "candidates", "b"]);
    const many = Array.from({ length: 64 }, (_, index) => `${index} ${long}`);
    assert.ok((await service.refused("/v1/rank", { state: words(3000), candidates: many })).length <= 20);
  });
});
