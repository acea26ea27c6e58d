import assert from "node:assert/strict";
import { test } from "node:test";
import type { RenderedRequest } from "../../src/decisions/request.ts";
import { ServiceError } from "../../src/errors.ts";
import { nodeBelow, stateOf } from "../../src/inference/nodes.ts";
import { planRequest, planRequests, withoutSharing } from "../../src/inference/plan.ts";
import { encodeByParts, type PartEncoder, type TextPart } from "../../src/inference/tokens/part-plan.ts";
import type { Tokenizer, TokenLimits } from "../../src/inference/tokens/tokenizer.ts";
import { readLetters, spellIds } from "../support/letter-tokens.ts";
import { treeOf } from "../support/trees.ts";

const LIMITS = { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 };

/** A text `n:name` has n tokens; `~n:name` passes its limit by a lower bound of n. */
class CountingTokenizer implements Tokenizer, PartEncoder {
  parts: readonly TextPart[] = [];
  readonly readTexts = readLetters;
  readonly spell = spellIds;

  encodeRequest(rendered: RenderedRequest, limits: TokenLimits, signal: AbortSignal) {
    return encodeByParts(rendered, limits, this, signal);
  }

  async encodeParts(parts: readonly TextPart[]) {
    this.parts = parts;
    return parts.map(({ text, maxTokens }) => {
      const count = Number.parseInt(text.replace("~", ""), 10);
      if (text.startsWith("~")) return { count, isExact: false };
      return count > maxTokens ? { count, isExact: true } : new Int32Array(count).fill(count);
    });
  }
}

function request(state: string, questions: readonly { question: string; candidates: readonly string[] }[]) {
  const rendered: RenderedRequest = {
    state: { text: state, loc: ["body", "state"] },
    questions: questions.map(({ question, candidates }, at) => ({
      question: { text: question, loc: ["body", "questions", `q${at}`, "instructions"] },
      candidates: candidates.map((text, index) => ({
        text,
        label: `${index}`,
        loc: ["body", "questions", `q${at}`, "criteria", index],
      })),
    })),
  };
  return rendered;
}

async function plan(rendered: RenderedRequest, tokenizer: Tokenizer = new CountingTokenizer()) {
  return treeOf(await planRequest(rendered, LIMITS, tokenizer, new AbortController().signal));
}

async function issuesOf(rendered: RenderedRequest) {
  const error = await plan(rendered).then(
    () => assert.fail("no issue"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ServiceError);
  assert.equal(error.kind, "INVALID_REQUEST");
  for (const { type } of error.issues) assert.equal(type, "too_many_tokens");
  return error.issues.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg.replace(/.*, /, "")}`);
}

test("a request at every bound becomes a token tree in request order", async () => {
  const tree = await plan(
    request("2000:s", [
      { question: "48:q", candidates: ["768:a", "2:b"] },
      { question: "1:q", candidates: ["3:c", "4:d", "5:e"] },
    ]),
  );
  assert.equal(tree.state.length, 2000);
  assert.deepEqual(
    tree.questions.map(({ tokens, candidates }) => [tokens.length, candidates.map(({ length }) => length)]),
    [
      [48, [768, 2]],
      [1, [3, 4, 5]],
    ],
  );
});

const REFUSALS = [
  [
    "a state that is too long alone is reported at the state and hides its questions",
    request("2049:s", [{ question: "1:q", candidates: ["2:a", "2:b"] }]),
    ["state: got 2049."],
  ],
  [
    "a state at the limit leaves no room for a question",
    request("2048:s", [{ question: "1:q", candidates: ["2:a", "2:b"] }]),
    ["questions.q0.instructions: got 2049."],
  ],
  [
    "state and question one past the limit are reported at that question only",
    request("2000:s", [
      { question: "48:q", candidates: ["2:a", "2:b"] },
      { question: "49:q", candidates: ["2:a", "2:b"] },
    ]),
    ["questions.q1.instructions: got 2049."],
  ],
  [
    "a question that is too long alone counts the state, too",
    request("10:s", [{ question: "2049:q", candidates: ["2:a", "2:b"] }]),
    ["questions.q0.instructions: got 2059."],
  ],
  [
    "a candidate one past its limit is reported at the candidate",
    request("10:s", [{ question: "1:q", candidates: ["768:a", "769:b"] }]),
    ["questions.q0.criteria.1: got 769."],
  ],
  [
    "lower bounds are given as such, also in sums",
    request("10:s", [{ question: "~3000:q", candidates: ["~800:a", "2:b"] }]),
    ["questions.q0.instructions: got at least 3010.", "questions.q0.criteria.0: got at least 800."],
  ],
  [
    "all reasons are reported in the order of the request",
    request("~5000:s", [
      { question: "1:q", candidates: ["2:a", "769:b"] },
      { question: "1:r", candidates: ["770:c", "2:d"] },
    ]),
    ["state: got at least 5000.", "questions.q0.criteria.1: got 769.", "questions.q1.criteria.0: got 770."],
  ],
] as const;

for (const [name, given, want] of REFUSALS) {
  test(name, async () => assert.deepEqual(await issuesOf(given), want));
}

test("at most 20 issues are reported", async () => {
  const candidates = Array.from({ length: 64 }, (_, at) => `${800 + at}:x`);
  const issues = await issuesOf(request("1:s", [{ question: "1:q", candidates }]));
  assert.equal(issues.length, 20);
  assert.equal(issues.at(-1), "questions.q0.criteria.19: got 819.");
});

test("equal texts are tokenized once in each role", async () => {
  const tokenizer = new CountingTokenizer();
  const questions = Array.from({ length: 3 }, () => ({ question: "5:x", candidates: ["5:x", "6:y"] }));
  const tree = await plan(request("5:x", questions), tokenizer);
  assert.deepEqual(
    tokenizer.parts.map(({ role, text, maxTokens }) => [role, text, maxTokens]),
    [
      ["state", "5:x", 2048],
      ["question", "5:x", 2048],
      ["candidate", "5:x", 768],
      ["candidate", "6:y", 768],
    ],
  );
  assert.equal(tree.questions.length, 3);
});

test("a message gives the limit and never the text", async () => {
  await assert.rejects(plan(request("10:s", [{ question: "1:q", candidates: ["999:secret"] }])), (error) => {
    assert.ok(error instanceof ServiceError);
    assert.equal(
      error.issues[0]?.msg,
      "Expected at most 768 tokens in a candidate, special tokens included, got 999.",
    );
    return true;
  });
});

test("other work runs while many requests are tokenized, in their order", async () => {
  const { signal } = new AbortController();
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const short = Array.from({ length: 40 }, (_, at) => at + 1); // 16 at once
  const long = Array.from({ length: 10 }, (_, at) => at + 41); // 3 at once
  const requests = [
    ...short.map((at) => request(`${at}:`, [{ question: "1:q", candidates: ["1:a"] }])),
    ...long.map((at) => request(`${at}:`.padEnd(10_000), [{ question: "1:q", candidates: ["1:a"] }])),
  ];
  const plans = await planRequests(requests, LIMITS, new CountingTokenizer(), signal);
  clearImmediate(next);
  assert.deepEqual(
    plans.map(([leaf]) => leaf && stateOf(leaf).tokens.length),
    [...short, ...long],
  );
  assert.ok(turns >= 5, `${turns} turns`);
});

test("pairs that differ only in what is read of them stay together where no others share tokens", () => {
  const ids = (...numbers: number[]) => Int32Array.from(numbers);
  const question = nodeBelow(nodeBelow(undefined, ids(1)), ids(2));
  const yesOrNo = [~3, 3].map((last) => nodeBelow(question, ids(last)));
  const choice = [3, 4].map((last) => nodeBelow(question, ids(last)));
  const [together = [], apart = []] = withoutSharing([yesOrNo, choice]);
  assert.deepEqual(together, yesOrNo);
  assert.deepEqual(
    apart.map(({ tokens }) => [...tokens]),
    [
      [1, 2, 3],
      [1, 2, 4],
    ],
  );
});
