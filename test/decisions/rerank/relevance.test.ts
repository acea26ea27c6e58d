import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RenderedRequest, TextReader } from "../../../src/decisions/request.ts";
import { type RerankRequest, relevanceJob, rerankLimits } from "../../../src/decisions/rerank/relevance.ts";
import { readLetters } from "../../support/letter-tokens.ts";
import { issuesOf } from "../issues.ts";

const letters: TextReader = { readTexts: readLetters };
const never = new AbortController().signal;
const MODEL = { temperature: 2, limits: { maxStateQuestionTokens: 40, maxCandidateTokens: 84 } };

function job(documents: readonly string[], more: Partial<RerankRequest> = {}) {
  const request = {
    query: "why?",
    queryLoc: ["body", "query"],
    documents,
    documentsLoc: ["body", "documents"],
    ...more,
  };
  return relevanceJob(request, MODEL);
}

/** One pair of scores for each state, by its text. */
function scoresOf(states: readonly RenderedRequest[], scoreOf: (text: string) => number) {
  return states.map(({ state }) => Float32Array.of(scoreOf(state.text.slice("Passage: ".length)), 0));
}

async function relevances(
  documents: readonly string[],
  scoreOf: (text: string) => number,
  more: Partial<RerankRequest> = {},
) {
  const work = job(documents, more);
  return work.relevances(scoresOf(await work.prepare(letters, never), scoreOf));
}

describe("the work of a rerank request", () => {
  it("asks one question about each document", async () => {
    const states = await job([" first ", "second"], { query: " why? " }).prepare(letters, never);
    assert.deepEqual(
      states.map(({ state }) => state),
      [
        { text: "Passage: first", loc: ["body", "documents", 0] },
        { text: "Passage: second", loc: ["body", "documents", 1] },
      ],
    );
    for (const { questions } of states) {
      const texts = questions.map(({ question, candidates }) =>
        [question, ...candidates].map(({ text }) => text),
      );
      assert.deepEqual(texts, [
        ["Which question does the passage answer?", "why?", "None of these questions."],
      ]);
    }
  });

  it("asks a reranker for query and document alone", async () => {
    const request = {
      query: " why? ",
      queryLoc: ["body", "query"],
      documents: ["no", "because"],
      documentsLoc: ["body", "documents"],
    };
    const work = relevanceJob(request, {
      ...MODEL,
      limits: { maxStateQuestionTokens: 140, maxCandidateTokens: 140 },
      isReranker: true,
    });
    const states = await work.prepare(letters, never);
    assert.deepEqual(
      states.map(({ state, questions }) => [
        state.text,
        questions.map(({ form, question, candidates }) => [
          form,
          question.text,
          candidates.map(({ label }) => label),
        ]),
      ]),
      ["no", "because"].map((text) => [text, [["noul", "why?", ["false", "true"]]]]),
    );
    const [best, other] = work.relevances([Float32Array.of(0, -4), Float32Array.of(0, 2)]);
    assert.deepEqual([best?.index, best?.raw, other?.index, other?.raw], [1, 1, 0, -2]);
  });

  it("asks about equal documents once, and answers each", async () => {
    const work = job(["a", "b", "a"]);
    const states = await work.prepare(letters, never);
    assert.equal(states.length, 2);
    const ranked = work.relevances(scoresOf(states, (text) => (text === "a" ? 4 : -4)));
    assert.deepEqual(
      ranked.map(({ index }) => index),
      [0, 2, 1],
    );
    assert.equal(ranked[0]?.relevance, ranked[1]?.relevance);
  });

  it("refuses a blank query, and one that is too long", async () => {
    const refusal = async (query: string) => {
      const [issue] = await issuesOf((async () => job(["a"], { query }).prepare(letters, never))());
      return [issue?.loc, issue?.type];
    };
    const { maxQueryTokens } = rerankLimits(MODEL);
    assert.equal(maxQueryTokens, 20);
    await job(["a"], { query: "x".repeat(20) }).prepare(letters, never);
    assert.deepEqual(await refusal(" \n"), [["body", "query"], "blank"]);
    assert.deepEqual(await refusal("x".repeat(21)), [["body", "query"], "too_many_tokens"]);
  });

  it("refuses a query that shows nothing", () => {
    for (const query of BLANKS) assert.throws(() => job(["a"], { query }), { kind: "INVALID_REQUEST" });
  });
});

const BLANKS = [
  ...["", " ", "\n\t ", "\u000b\f", "\u0000", "\u0001\u001f\u007f", "\u0085", "\u00a0", "\u00ad", "\u034f"],
  ...["\u115f", "\u180e", "\u200b\u200d", "\u200f", "\u2028", "\u2060", "\u2800", "\u3000", "\u3164"],
  ...["\ufe0f", "\ufeff", "\uffa0", "\u{e0020}", "\u0301", " \u200b\r\n\u00a0 "],
];

describe("relevance", () => {
  it("of blank documents is 0, so that they come after all others, at their own place", async () => {
    const documents = ["first", ...BLANKS, "last", "-", "\u{1f642}", "\ufffd"];
    const ranked = await relevances(documents, (text) => (BLANKS.includes(text) ? 40 : -40));
    const filled = [0, BLANKS.length + 1, BLANKS.length + 2, BLANKS.length + 3, BLANKS.length + 4];
    assert.deepEqual(
      ranked.map(({ index }) => index),
      [...filled, ...BLANKS.map((_, at) => at + 1)],
    );
    for (const { index, relevance, raw } of ranked) {
      assert.equal(
        relevance === 0 && raw === -1000,
        !filled.includes(index),
        JSON.stringify(documents[index]),
      );
      assert.ok(Math.abs(relevance - 1 / (1 + Math.exp(-raw))) < 1e-12);
    }
  });

  it("of a document is not that of a blank part", async () => {
    const document = `${"\u200b".repeat(60)} aaaa`;
    const [first] = await relevances([document], (text) => (text.includes("aaaa") ? -6 : 6));
    assert.equal(first?.raw, -3);
  });

  it("of only blank documents is 0", async () => {
    const ranked = await relevances(["", " "], () => 5);
    assert.deepEqual(
      ranked.map(({ index, relevance }) => [index, relevance]),
      [
        [0, 0],
        [1, 0],
      ],
    );
  });

  it("is the probability of the query, and the raw number its logit", async () => {
    const [first] = await relevances(["a"], () => 3);
    assert.ok(first);
    assert.ok(Math.abs(first.relevance - 1 / (1 + Math.exp(-1.5))) < 1e-15);
    assert.equal(first.raw, 1.5);
  });

  it("sorts documents, equal ones in the order of the request, also where the probability is 1 for both", async () => {
    const scores = new Map([
      ["a", 1],
      ["b", 300],
      ["c", 1],
      ["d", 400],
    ]);
    const ranked = await relevances([...scores.keys()], (text) => scores.get(text) ?? 0);
    assert.deepEqual(
      ranked.map(({ index }) => index),
      [3, 1, 0, 2],
    );
    assert.equal(ranked[0]?.relevance, 1);
  });

  it("of a long document is that of its best part", async () => {
    const long = "aaaa bbbb cccc dddd eeee ffff";
    const read: string[] = [];
    const [first] = await relevances([long], (text) => {
      read.push(text);
      return text.includes("ffff") ? 6 : -6;
    });
    assert.ok(read.length > 1 && read.every((text) => text.length <= 20));
    assert.equal(read.join(" "), long);
    assert.equal(first?.raw, 3);
  });

  it("is refused where scores are missing or not finite", async () => {
    const work = job(["a", "b"]);
    await work.prepare(letters, never);
    assert.throws(() => work.relevances([Float32Array.of(1, 0)]), /too few/);
    const bad = [Float32Array.of(1, 0), Float32Array.of(Number.NaN, 0)];
    assert.throws(() => work.relevances(bad), /not finite/);
  });
});

describe("a request to cut documents", () => {
  it("keeps so many tokens of each, and tells which were cut", async () => {
    const work = job(["abcdef", "abc", "abcdef"], { cut: { tokens: 4, keepsEnd: false } });
    const states = await work.prepare(letters, never);
    assert.deepEqual(
      states.map(({ state }) => state.text),
      ["Passage: abcd", "Passage: abc"],
    );
    assert.deepEqual(work.cutDocuments(), [0, 2]);
  });

  for (const [text, tokens, keepsEnd, want, cut] of [
    ["abcdef", 4, true, "cdef", [0]],
    ["abc ", 3, false, "abc", []],
  ] as const)
    it(`leaves ${want} of ${JSON.stringify(text)}`, async () => {
      const work = job([text], { cut: { tokens, keepsEnd } });
      assert.equal((await work.prepare(letters, never))[0]?.state.text, `Passage: ${want}`);
      assert.deepEqual(work.cutDocuments(), cut);
    });
});
