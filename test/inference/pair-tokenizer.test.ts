import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { readRequest } from "../../src/inference/read-request.ts";
import { openPairEncoder, PairTokenizer } from "../../src/inference/tokens/pair-tokenizer.ts";
import { packageRoot } from "../support/package-root.ts";

const json = readFileSync(path.join(packageRoot, "test/golden/classifiers/bert/tokenizer.json"), "utf8");
const LIMITS = { maxStateQuestionTokens: 20, maxCandidateTokens: 20 };
const { signal } = new AbortController();

async function openTokenizer(): Promise<PairTokenizer> {
  return new PairTokenizer(await openPairEncoder(json, undefined), {
    maxTokens: 30,
    textsOf: ({ state, question, candidate }) => ({ first: state, second: `${question} ${candidate}` }),
  });
}

const at = (text: string, ...steps: (string | number)[]) => ({ text, loc: ["body", ...steps] });

function requestOf(state: string, ...candidates: string[]) {
  const listed = candidates.map((text, i) => ({ ...at(text, "candidates", i), label: text }));
  return {
    state: at(state, "state"),
    questions: [{ question: at("is it", "question"), candidates: listed }],
  };
}

test("the texts of short pairs are tokenized once, as the pairs have them", async () => {
  const tokenizer = await openTokenizer();
  const { plan, tooLong } = await tokenizer.encodeRequest(requestOf("a b c", "d", "e"), LIMITS, signal);
  assert.deepEqual([plan.flat().length, tooLong], [2, []]);
  assert.deepEqual(tokenizer.textCache(), { hits: 0, misses: 3 });
});

test("a text above its own limit is named, even if the pair fits", async () => {
  const request = requestOf("a b c", "d", "e ".repeat(20).trim());
  const { tooLong } = await (await openTokenizer()).encodeRequest(request, LIMITS, signal);
  const actual = { count: 21, isExact: true };
  assert.deepEqual(tooLong, [{ what: "candidate", loc: ["body", "candidates", 1], maxTokens: 20, actual }]);
});

test("of a pair that is read as a whole, no tokens are said to be those of state and question", async () => {
  const read = await readRequest(requestOf("a b c", "d", "e"), LIMITS, await openTokenizer(), signal);
  assert.equal(read.questions[0]?.stateQuestionTokens, undefined);
  assert.equal(read.questions[0]?.candidates[0]?.pairTokens, 9);
});
