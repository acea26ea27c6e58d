import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/errors.ts";
import { pathLength } from "../../src/inference/nodes.ts";
import { planRequest } from "../../src/inference/plan.ts";
import { JointTokenizer } from "../../src/inference/tokens/joint-tokenizer.ts";
import { type Asked, jointPackage, renderedRequest, tokenizerJson } from "../support/gemma3.ts";

const LIMITS = { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 };
const separate = tokenizerJson(jointPackage("five-to-one"));
const reaching = tokenizerJson(jointPackage("all-full"));
const unaborted = new AbortController().signal;

/** A digit is a token of its own in both tokenizers, whatever stands beside it. */
const digits = (count: number) => "7".repeat(count);
const asked = (state: string, question: string, ...candidates: string[]): Asked => {
  return { state, question, candidates };
};

function plan(json: string, requests: readonly Asked[], { maxTokens = 4096, signal = unaborted } = {}) {
  const tokenizer = new JointTokenizer(json, { bosId: 2, maxTokens, vocabulary: undefined });
  return planRequest(renderedRequest(...requests), LIMITS, tokenizer, signal);
}

async function issuesOf(json: string, requests: readonly Asked[], options = {}) {
  const error = await plan(json, requests, options).then(
    () => assert.fail("no issue"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ServiceError && error.kind === "INVALID_REQUEST");
  for (const { type } of error.issues) assert.equal(type, "too_many_tokens");
  return error.issues.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg.replace(/.*(?=got)/, "")}`);
}

const REFUSALS = [
  {
    name: "a state that is too long alone is reported at the state and hides its questions",
    given: [asked(digits(2048), "?", "1", "2")],
    want: ["state: got 2049."],
  },
  {
    name: "a state at the limit leaves no room for a question",
    given: [asked(digits(2047), "7", "1", "2")],
    want: ["questions.q0.instructions: got 2050."],
  },
  {
    name: "state and question one past the limit are reported at that question only",
    given: [asked(digits(2000), digits(46), "1", "2"), asked("", digits(47), "1", "2")],
    want: ["questions.q1.instructions: got 2049."],
  },
  {
    name: "a candidate one past its limit is reported at the candidate",
    given: [asked("7", "7", digits(767), digits(768))],
    want: ["questions.q0.criteria.1: got 769."],
  },
  {
    name: "all reasons are reported in the order of the request",
    given: [asked(digits(3000), "?", "1", digits(800)), asked("", "?", digits(801), "1")],
    want: ["state: got 3001.", "questions.q0.criteria.1: got 801.", "questions.q1.criteria.0: got 802."],
  },
];

const MIB = 2 ** 20;
const LONG_TEXTS = [
  { name: "letters", text: "a".repeat(2 * MIB) },
  { name: "running text", text: "The parcel has not arrived. ".repeat((2 * MIB) / 28) },
  { name: "newlines", text: `a${"\n".repeat(2 * MIB)}a` },
  { name: "spaces", text: `a${" ".repeat(2 * MIB)}a` },
  { name: "CJK", text: "\u6f22\u5b57".repeat(MIB / 3) },
  { name: "emoji", text: "\u{1f600}".repeat(MIB / 4) },
  { name: "added tokens", text: "<end_of_turn>".repeat(MIB / 8) },
];

for (const [name, json] of Object.entries({ separate, reaching })) {
  describe(`token limits of joint texts, newlines ${name}`, () => {
    it("a request at every bound is taken", async () => {
      const leaves = (await plan(json, [asked(digits(2000), digits(46), digits(767), "1")])).flat();
      const lengths = leaves.map(pathLength);
      const header = (lengths[1] ?? 0) - 2048 - 1;
      assert.ok(header > 0 && header <= 16, `${header} tokens between question and candidate`);
      assert.deepEqual(lengths, [2048 + header + 767, 2048 + header + 1]);
    });

    for (const { name: behaviour, given, want } of REFUSALS) {
      it(behaviour, async () => assert.deepEqual(await issuesOf(json, given), want));
    }

    it("at most 20 issues are reported", async () => {
      const candidates = Array.from({ length: 64 }, (_, at) => digits(800 + at));
      const issues = await issuesOf(json, [asked("1", "?", ...candidates)]);
      assert.equal(issues.length, 20);
      assert.equal(issues.at(-1), "questions.q0.criteria.19: got 820.");
    });

    for (const { name: kind, text } of LONG_TEXTS) {
      it(`a long text of ${kind} is refused by its length, untokenized`, async () => {
        const longest = 16; // code units of the longest token in both
        const least = Math.ceil(text.length / longest) + 1;
        assert.deepEqual(await issuesOf(json, [asked(text, "?", "1", text)]), [
          `state: got at least ${least}.`,
          `questions.q0.criteria.1: got at least ${least}.`,
        ]);
      });
    }

    it("a pair that the model does not take is reported at its candidate", async () => {
      const issues = await issuesOf(json, [asked(digits(20), "?", "1", digits(30))], { maxTokens: 50 });
      assert.equal(issues.length, 1);
      assert.match(issues[0] ?? "", /^questions\.q0\.criteria\.1: got 5\d\.$/);
    });

    it("an aborted signal ends tokenizing", async () => {
      const signal = AbortSignal.abort(new Error("gone"));
      await assert.rejects(plan(json, [asked("a", "b", "c", "d")], { signal }), /gone/);
    });
  });
}

describe("a tokenizer of another kind is refused, since the bounds are not about it", () => {
  const parsed = () => JSON.parse(separate);
  const OTHERS = [
    ["no JSON", () => "no JSON"],
    ["another model", () => ({ ...parsed(), model: { ...parsed().model, type: "Unigram" } })],
    ["no bytes", () => ({ ...parsed(), model: { ...parsed().model, byte_fallback: false } })],
    ["a normalizer that drops text", () => ({ ...parsed(), normalizer: { type: "NFKC" } })],
    [
      "a replacement by nothing",
      () => ({ ...parsed(), normalizer: { type: "Replace", pattern: { String: "a" }, content: "" } }),
    ],
    ["a pre-tokenizer that drops text", () => ({ ...parsed(), pre_tokenizer: { type: "WhitespaceSplit" } })],
    [
      "a byte missing",
      () => {
        const file = parsed();
        delete file.model.vocab["<0x0A>"];
        return file;
      },
    ],
  ] as const;
  for (const [name, make] of OTHERS) {
    it(name, () => {
      const file = make();
      const json = typeof file === "string" ? file : JSON.stringify(file);
      assert.throws(
        () => new JointTokenizer(json, { bosId: 2, maxTokens: 100, vocabulary: undefined }),
        (error) => error instanceof ServiceError && error.kind === "INVALID_MODEL",
      );
    });
  }
});
