import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { REQUEST_LIMITS, type SystemoneBody } from "../../src/decisions/request.ts";
import { readSystemone, type ServedModel } from "../../src/decisions/systemone.ts";
import { viewerOf } from "../../src/json/views.ts";
import { parseJson } from "../json/parse-json.ts";
import { packageRoot } from "../support/package-root.ts";
import { issuesOf } from "./issues.ts";

const { maxCandidates, maxPairs } = REQUEST_LIMITS;

interface Vectors {
  noul: { instructions: string; criteria: unknown; texts: [string, string] }[];
  choice: { label: string; description: unknown; shown: string; hidden: string }[];
}
const vectors: Vectors = JSON.parse(
  readFileSync(path.join(packageRoot, "test/vectors/rendering.json"), "utf8"),
);
const document = JSON.parse(readFileSync(path.join(packageRoot, "generated/openapi.typed.json"), "utf8"));
const viewer = viewerOf({ $ref: "#/components/schemas/SystemoneRequest" }, document);

const model: ServedModel = {
  id: "n/m@0",
  aliases: ["n/m", "m"],
  showsLabels: true,
  limits: { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 },
};

/** Reads a body as it comes from validation. */
function read(text: string, served: ServedModel = model) {
  const { ordered } = viewer(parseJson(text));
  const body = ordered as SystemoneBody; // these tests only write bodies that the schema admits
  return readSystemone(body, served);
}
const ask = (question: string, served: ServedModel = model) =>
  read(`{"state":"s","questions":{"q":${question}}}`, served);
const candidates = async (question: string, served?: ServedModel) =>
  (await ask(question, served)).questions.flatMap((q) => q.candidates.map(({ text }) => text));
const choice = (criteria: string) => `{"type":"choice","instructions":"i","criteria":${criteria}}`;
const score = (criteria: string) => `{"type":"score","instructions":"i","criteria":${criteria}}`;
const noul = (criteria: string, instructions = '"i"') =>
  `{"type":"noul","instructions":${instructions},"criteria":${criteria}}`;

describe("candidates", () => {
  for (const { instructions, criteria, texts } of vectors.noul) {
    it(`of noul ${JSON.stringify({ instructions, criteria })} are those of training`, async () => {
      assert.deepEqual(await candidates(noul(JSON.stringify(criteria), JSON.stringify(instructions))), texts);
    });
  }

  for (const { label, description, shown, hidden } of vectors.choice) {
    const criteria = `{${JSON.stringify(label)}:${JSON.stringify(description)},"other one":null}`;
    it(`of choice ${criteria} are those of training`, async () => {
      assert.deepEqual(await candidates(choice(criteria)), [shown, "other one"]);
      assert.deepEqual(await candidates(choice(criteria), { ...model, showsLabels: false }), [
        hidden,
        "other one",
      ]);
    });
  }

  const nouls: [name: string, question: string, want: string[]][] = [
    [
      "missing criteria",
      '{"type":"noul","instructions":"i"}',
      ["false: No. This is false: i", "true: Yes. This is true: i"],
    ],
    ["empty criteria", noul("{}"), ["false: No. This is false: i", "true: Yes. This is true: i"]],
    ["aliases", noul('{"yes":"y","no":"n"}'), ["false: n", "true: y"]],
    [
      "a null alias alone",
      noul('{"yes":null}'),
      ["false: No. This is false: i", "true: Yes. This is true: i"],
    ],
    [
      "a null alias beside its canonical name",
      noul('{"true":"t","yes":null}'),
      ["false: No. This is false: i", "true: t"],
    ],
    ["instructions of white space", noul("null", '" \\n"'), ["false: false", "true: true"]],
    [
      "instructions that are trimmed",
      noul("null", '" i "'),
      ["false: No. This is false: i", "true: Yes. This is true: i"],
    ],
  ];
  for (const [name, question, want] of nouls) {
    it(`of noul with ${name}`, async () => assert.deepEqual(await candidates(question), want));
  }

  it("of score are the trimmed levels, labelled by position", async () => {
    const { questions, facts } = await ask(score('[" low ",{"a":1},3.0]'));
    assert.deepEqual(
      questions[0]?.candidates.map(({ text }) => text),
      ["low", "a: 1", "3.0"],
    );
    assert.deepEqual(facts, [{ name: "q", type: "score", labels: ["0", "1", "2"] }]);
  });

  it("and questions keep the order sent, integer-like names too", async () => {
    const { facts } = await read(
      `{"state":"s","questions":{"10":${choice('{"9":null,"1":null}')},"2":${noul("null")}}}`,
    );
    assert.deepEqual(facts, [
      { name: "10", type: "choice", labels: ["9", "1"] },
      { name: "2", type: "noul", labels: ["false", "true"] },
    ]);
  });

  it("say where their texts came from", async () => {
    const { state, questions } = await ask(noul('{"yes":"y"}'));
    assert.deepEqual(state.loc, ["body", "state"]);
    assert.deepEqual(questions[0]?.question.loc, ["body", "questions", "q", "instructions"]);
    assert.deepEqual(
      questions[0]?.candidates.map(({ loc }) => loc),
      [
        ["body", "questions", "q", "instructions"],
        ["body", "questions", "q", "criteria", "yes"],
      ],
    );
  });
});

describe("issues", () => {
  const q = ["body", "questions", "q"];
  const cases: [name: string, question: string, type: string, loc: (string | number)[]][] = [
    ["equal descriptions", choice('{"a":"x","b":"x"}'), "not_distinct", [...q, "criteria", "b"]],
    [
      "descriptions equal after rendering and trimming",
      choice('{"a":" 1 ","b":1}'),
      "not_distinct",
      [...q, "criteria", "b"],
    ],
    [
      "a label that stands for a description",
      choice('{"a":"b","b":null}'),
      "not_distinct",
      [...q, "criteria", "b"],
    ],
    ["labels equal after trimming", choice('{" a":null,"a":""}'), "not_distinct", [...q, "criteria", "a"]],
    ["a blank label without description", choice('{"a":null," ":null}'), "blank", [...q, "criteria", " "]],
    ["an empty label without description", choice('{"":null,"a":null}'), "blank", [...q, "criteria", ""]],
    ["equal levels", score('["a","b"," a"]'), "not_distinct", [...q, "criteria", 2]],
    ["a blank level", score('["a",null]'), "blank", [...q, "criteria", 1]],
    ["false under both names", noul('{"false":"x","no":"y"}'), "alias_conflict", [...q, "criteria", "no"]],
    [
      "a null name beside a given alias",
      noul('{"true":null,"yes":"x"}'),
      "alias_conflict",
      [...q, "criteria", "yes"],
    ],
    [
      "equal outcomes under aliases",
      noul('{"yes":"x","no":" x"}'),
      "not_distinct",
      [...q, "criteria", "yes"],
    ],
    [
      "more items than a candidate's tokens",
      score(`["a",[${"1,".repeat(768)}1]]`),
      "too_many_tokens",
      [...q, "criteria", 1],
    ],
    [
      "more items than a question's tokens",
      noul("null", `[${"1,".repeat(2048)}1]`),
      "too_many_tokens",
      [...q, "instructions"],
    ],
  ];
  for (const [name, question, type, loc] of cases) {
    it(`${name}: ${type}`, async () => {
      const issues = await issuesOf(ask(question));
      assert.deepEqual(
        issues.map((issue) => ({ type: issue.type, loc: issue.loc })),
        [{ type, loc }],
      );
    });
  }

  it("labels decide nothing: the same text behind another label is the same description", async () => {
    await ask(choice('{"a: b":null,"a":"b"}'));
  });

  it("state and instructions may each be blank, but not both", async () => {
    await read(`{"state":" ","questions":{"q":${noul("null")}}}`);
    await ask(noul("null", "null"));
    const issues = await issuesOf(
      read(`{"state":[],"questions":{"a":${noul("null", "{}")},"b":${noul("null")}}}`),
    );
    assert.deepEqual(
      issues.map(({ type, loc }) => [type, loc]),
      [["blank", ["body", "questions", "a", "instructions"]]],
    );
  });

  const levels = (count: number) =>
    score(JSON.stringify(Array.from({ length: count }, (_, i) => `level ${i}`)));
  it(`${maxPairs} pairs pass, ${maxPairs + 1} do not`, async () => {
    const full = Array.from(
      { length: maxPairs / maxCandidates - 1 },
      (_, i) => `"${i}":${levels(maxCandidates)}`,
    );
    const questions = (last: number) =>
      `{"state":"s","questions":{${full.join()},"last":${levels(last)},"noul":${noul("null")}}}`;
    await read(questions(maxCandidates - 2));
    const issues = await issuesOf(read(questions(maxCandidates - 1)));
    assert.deepEqual(
      issues.map(({ type, loc }) => [type, loc]),
      [["too_many_pairs", ["body", "questions"]]],
    );
    assert.match(issues[0]?.msg ?? "", new RegExp(`${maxPairs}.*${maxPairs + 1}`));
  });

  it("are collected, at most 20", async () => {
    const both = await issuesOf(
      read(
        `{"state":"s","model":"x","questions":{"a":${choice('{"x":1,"y":1}')},"b":${noul('{"no":1,"false":2}')}}}`,
      ),
    );
    assert.deepEqual(
      both.map(({ type }) => type),
      ["unsupported_model", "not_distinct", "alias_conflict"],
    );
    assert.equal((await issuesOf(ask(score(`[${"1,".repeat(maxCandidates - 1)}1]`)))).length, 20);
  });

  it("never show what was sent", async () => {
    for (const { msg } of await issuesOf(ask(choice('{"a":"secret","b":"secret"}'))))
      assert.doesNotMatch(msg, /secret/);
  });
});
