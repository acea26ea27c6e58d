import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Tokenizer as LibraryTokenizer } from "tokenizers";
import { type Node, pathOf } from "../../src/inference/nodes.ts";
import { planRequest } from "../../src/inference/plan.ts";
import { JointTokenizer } from "../../src/inference/tokens/joint-tokenizer.ts";
import { plainTokenizerFile } from "../../src/inference/tokens/special-tokens.ts";
import {
  type Asked,
  jointPackage,
  jointPackages,
  renderedRequest,
  tokenizerJson,
} from "../support/gemma3.ts";
import { Random } from "./random.ts";

const LIMITS = { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 };
const BOS = 2;

/** Newlines apart from everything else, as with Gemma's; and newlines that tokens reach across. */
const separate = tokenizerJson(jointPackage("five-to-one"));
const reaching = tokenizerJson(jointPackage("all-full"));

const makeTokenizer = (json: string) =>
  new JointTokenizer(json, { bosId: BOS, maxTokens: 4096, vocabulary: undefined });
const pathsOf = async (tokenizer: JointTokenizer, ...asked: readonly Asked[]) => {
  const { signal } = new AbortController();
  const plan = await planRequest(renderedRequest(...asked), LIMITS, tokenizer, signal);
  return plan.map((leaves) => leaves.map(partsOf));
};
/** A pair's tokens. */
function partsOf(leaf: Node): TokenPath {
  const [state, question, candidate] = pathOf(leaf).map(({ tokens }) => tokens);
  assert.ok(state && question && candidate);
  return { state, question, candidate };
}
type TokenPath = Readonly<Record<"state" | "question" | "candidate", Int32Array>>;
const idsOf = async (tokenizer: JointTokenizer, state: string) => {
  const [paths = []] = await pathsOf(tokenizer, { state, question: "?", candidates: ["1"] });
  return paths.map(({ state }) => [...state]);
};
const joined = ({ state, question, candidate }: TokenPath) => [...state, ...question, ...candidate];
const cutsOf = ({ state, question }: TokenPath) => [state.length, question.length];

describe("the joint tokenizer", () => {
  for (const each of jointPackages) {
    it(`gives every pair of ${each.name} its golden token ids`, async () => {
      const tokenizer = makeTokenizer(tokenizerJson(each));
      assert.ok(each.decisions.length > 0);
      for (const decision of each.decisions) {
        const [paths] = await pathsOf(tokenizer, decision);
        assert.deepEqual(paths?.map(joined), decision.token_ids);
      }
    });
  }

  it("cuts after the state and after the header where tokens end there", async () => {
    const tokenizer = makeTokenizer(separate);
    const decisions = jointPackage("five-to-one").decisions.filter(({ candidates }) =>
      candidates.every((text) => text === text.trim()),
    );
    const library = LibraryTokenizer.fromString(separate);
    const idsOf = async (text: string) => [
      BOS,
      ...(await library.encode(text, null, { addSpecialTokens: false })).getIds(),
    ];
    for (const decision of decisions) {
      const [paths = []] = await pathsOf(tokenizer, decision);
      const { state, question, candidates } = decision;
      const prompt = [state, question].filter((text) => text !== "").join("\n\n");
      for (const [i, path] of paths.entries()) {
        assert.deepEqual([...path.state], await idsOf(state));
        assert.deepEqual([...path.state, ...path.question], await idsOf(`${prompt}\n\nCandidate action:\n`));
        assert.deepEqual([BOS, ...path.candidate], await idsOf(candidates[i] ?? ""));
      }
    }
  });

  it("shares what pairs have in common by identity", async () => {
    const question = {
      state: "My parcel has not arrived.",
      question: "Which team?",
      candidates: ["Billing", "Delivery"],
    };
    for (const json of [separate, reaching]) {
      const plan = await pathsOf(
        makeTokenizer(json),
        question,
        { ...question, question: "How urgent?" },
        question,
      );
      const paths = plan.flat();
      assert.equal(new Set(paths.map(({ state }) => state)).size, 1);
      assert.equal(new Set(paths.map((path) => path.question)).size, 2);
      assert.equal(plan[0]?.[0]?.question, plan[2]?.[1]?.question);
    }
  });

  it("ends a part earlier where a token reaches across its border, and leaves the candidate one token at least", async () => {
    const asked = { state: "Give the money back.", question: "Which one?", candidates: ["Yes.", "\n\nYes."] };
    const [[plain, newlines] = []] = await pathsOf(makeTokenizer(reaching), asked);
    const library = LibraryTokenizer.fromString(reaching);
    const alone = (await library.encode(asked.state, null, { addSpecialTokens: false })).getLength() + 1;
    assert.ok(plain !== undefined && newlines !== undefined);
    assert.ok(plain.state.length < alone, "the full stop stands in one token with the blank line");
    assert.equal(plain.state, newlines.state);
    for (const { candidate } of [plain, newlines]) assert.ok(candidate.length > 0);
  });
});

describe("a token that the model does not know", () => {
  const file = JSON.parse(separate);
  const vocabulary = Object.keys(file.model.vocab).length;
  const picture = { ...file.added_tokens[0], id: vocabulary, content: "<picture>", special: false };
  const json = JSON.stringify({ ...file, added_tokens: [...file.added_tokens, picture] });

  it("is text in a text", async () => {
    const tokenizer = new JointTokenizer(json, { bosId: BOS, maxTokens: 4096, vocabulary });
    const [ids = []] = await idsOf(tokenizer, "a<picture>b");
    assert.ok(ids.length > 4 && Math.max(...ids) < vocabulary, `${ids} ${vocabulary}`);
  });

  it("is left alone where nobody knows what the model knows", async () => {
    const [ids = []] = await idsOf(makeTokenizer(json), "a<picture>b");
    assert.ok(ids.includes(vocabulary));
  });
});

describe("special tokens", () => {
  for (const [name, json] of Object.entries({ separate, reaching })) {
    it(`are text in a text (${name})`, async () => {
      const { added_tokens: added } = JSON.parse(json);
      const special: { id: number; content: string }[] = added.filter(
        (token: { special: boolean }) => token.special,
      );
      assert.ok(special.length > 3);
      for (const { id, content } of special) {
        const [ids = []] = await idsOf(makeTokenizer(json), `a${content}b`);
        assert.ok(ids.length > 4 && !ids.slice(1).includes(id), content);
      }
    });
  }
});

/** Texts that stand at borders, separated by bars. */
const FRAGMENTS = [
  "\n|\n\n|\n\n\n| |  |\t|\r\n|.|. |?|a|word|Candidate|\n\nCandidate action:\n|Candidate action:|",
  "action:\n|:\n|<bos>|<eos>|<pad>|<td>|<|</table>|<start_of_turn>|\u2581|\u2581\u2581|",
  "\u6f22\u5b57|\u00e9|e\u0301|\u{1f600}|\u200d|<0x0A>|\u0000|I was charged twice| for one order.|",
  "Give the money back.|the customer |name: a lamp\n  |- |1|42|\u2028",
]
  .join("")
  .split("|")
  .concat("\n".repeat(17), " ".repeat(20));

/** Texts of a request are trimmed; a label that stands for its description is not. */
function randomAsked(random: Random): Asked {
  const text = (most: number) =>
    Array.from({ length: random.between(0, most) }, () => random.pick(FRAGMENTS)).join("");
  const candidates = Array.from({ length: random.between(2, 4) }, (_, at) => {
    const candidate = text(6);
    return random.isChance(0.3) ? `${candidate}${at}` : candidate.trim() || `${at}`;
  });
  return {
    state: text(12).trim(),
    question: text(8).trim() || (random.isChance(0.3) ? "" : "?"),
    candidates,
  };
}

describe("on random texts, whatever stands at their borders", () => {
  for (const [name, json] of Object.entries({ separate, reaching })) {
    it(`pairs have the tokens of their whole text, and cuts of their own (newlines ${name})`, async () => {
      const random = new Random(7);
      const tokenizer = makeTokenizer(json);
      const library = LibraryTokenizer.fromString(plainTokenizerFile(JSON.parse(json)).json);
      const seen = { shorterStates: 0, emptyQuestions: 0, pairs: 0 };
      for (let round = 0; round < 60; round++) {
        const first = randomAsked(random);
        const asked = [
          first,
          ...Array.from({ length: random.between(0, 2) }, () => ({
            ...randomAsked(random),
            state: first.state,
          })),
        ];
        const plan = await pathsOf(tokenizer, ...asked);
        for (const [q, { state, question, candidates }] of asked.entries()) {
          const prompt = [state, question].filter((text) => text !== "").join("\n\n");
          for (const [c, candidate] of candidates.entries()) {
            const path = plan[q]?.[c];
            assert.ok(path !== undefined);
            const label = JSON.stringify({ state, question, candidate });
            const whole = await library.encode(`${prompt}\n\nCandidate action:\n${candidate}`);
            assert.deepEqual(joined(path), [...whole.getIds()], label);
            assert.ok(path.candidate.length > 0 && path.state.length > 0, label);
            const [[alone] = []] = await pathsOf(tokenizer, { state, question, candidates: [candidate] });
            assert.ok(alone !== undefined);
            assert.deepEqual(cutsOf(path), cutsOf(alone), `in company ${label}`);
            const stateAlone =
              1 + (await library.encode(state, null, { addSpecialTokens: false })).getLength();
            seen.pairs += 1;
            if (path.state.length < stateAlone) seen.shorterStates += 1;
            if (path.question.length === 0) seen.emptyQuestions += 1;
          }
        }
        if (name === "separate") assert.equal(new Set(plan.flat().map((path) => path.state)).size, 1);
      }
      if (name === "separate") assert.equal(seen.shorterStates, 0);
      else assert.ok(seen.shorterStates > 20 && seen.shorterStates < seen.pairs, JSON.stringify(seen));
    });
  }
});
