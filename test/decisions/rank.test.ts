import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readRank } from "../../src/decisions/rank.ts";
import type { RankBody } from "../../src/decisions/request.ts";
import { isJsonObject } from "../../src/json/value.ts";
import { parseJson } from "../json/parse-json.ts";
import { issuesOf } from "./issues.ts";

const model = {
  id: "n/m@0",
  aliases: ["m"],
  showsLabels: true,
  limits: { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 },
};

async function read(text: string) {
  const value = parseJson(text);
  assert.ok(isJsonObject(value));
  const body = Object.fromEntries(value) as unknown as RankBody; // these tests write the members it needs
  return readRank(body, model);
}

describe("readRank", () => {
  const accepted: [name: string, body: string, labels: string[], texts: string[]][] = [
    ["a list", '{"state":"s","candidates":["b","a"]}', ["0", "1"], ["b", "a"]],
    ["a mapping in the order sent", '{"state":"s","candidates":{"10":"b","2":"a"}}', ["10", "2"], ["b", "a"]],
    ["texts that need trimming", '{"state":"s","candidates":[" b ","a\\n"]}', ["0", "1"], ["b", "a"]],
    ["a text that looks like JSON", '{"state":"s","candidates":["[1]","{}"]}', ["0", "1"], ["[1]", "{}"]],
  ];
  for (const [name, body, labels, texts] of accepted) {
    it(`takes ${name}`, async () => {
      const { questions, sent } = await read(body);
      assert.deepEqual(
        questions[0]?.candidates.map(({ label }) => label),
        labels,
      );
      assert.deepEqual(
        questions[0]?.candidates.map(({ text }) => text),
        texts,
      );
      // the answer has them as they were sent
      const values = Object.values(JSON.parse(body).candidates);
      assert.deepEqual(sent.map(({ text }) => text).sort(), values.sort());
    });
  }

  it("renders state and question, which may be empty", async () => {
    for (const [members, want] of [
      ['"state":"[1]","question":{"a":1}', ["- 1", "a: 1"]],
      ['"state":"s"', ["s", ""]],
      ['"state":"s","question":null', ["s", ""]],
      ['"state":"s","question":""', ["s", ""]],
    ] as const) {
      const { state, questions } = await read(`{${members},"candidates":["b","a"],"model":"m"}`);
      assert.deepEqual([state.text, questions[0]?.question.text], want);
    }
  });

  const refused: [name: string, body: string, type: string, loc: (string | number)[]][] = [
    ["equal texts", '{"state":"s","candidates":["a","b","a"]}', "not_distinct", ["body", "candidates", 2]],
    [
      "texts equal after trimming",
      '{"state":"s","candidates":{"x":"a","y":" a"}}',
      "not_distinct",
      ["body", "candidates", "y"],
    ],
    ["a blank text", '{"state":"s","candidates":["a"," "]}', "blank", ["body", "candidates", 1]],
    ["a blank state without a question", '{"state":null,"candidates":["a","b"]}', "blank", ["body", "state"]],
    [
      "state and question blank",
      '{"state":null,"question":" ","candidates":["a","b"]}',
      "blank",
      ["body", "question"],
    ],
    [
      "another model",
      '{"state":"s","candidates":["a","b"],"model":"M"}',
      "unsupported_model",
      ["body", "model"],
    ],
    [
      "a null model",
      '{"state":"s","candidates":["a","b"],"model":null}',
      "unsupported_model",
      ["body", "model"],
    ],
    [
      "a state of too many items",
      `{"state":[${"1,".repeat(2048)}1],"candidates":["a","b"]}`,
      "too_many_tokens",
      ["body", "state"],
    ],
  ];
  for (const [name, body, type, loc] of refused) {
    it(`refuses ${name}: ${type}`, async () => {
      const issues = await issuesOf(read(body));
      assert.deepEqual(
        issues.map((issue) => ({ type: issue.type, loc: issue.loc })),
        [{ type, loc }],
      );
    });
  }

  it("collects the issues of a request", async () => {
    const issues = await issuesOf(read('{"model":1,"state":"","candidates":["a","a"]}'));
    assert.deepEqual(
      issues.map(({ type }) => type),
      ["unsupported_model", "blank", "not_distinct"],
    );
  });
});

describe("a candidate that equals an earlier one", () => {
  it("is told which", async () => {
    const messageOf = async (candidates: string) => {
      const issues = await issuesOf(read(`{"state":"s","candidates":${candidates}}`));
      return issues.at(-1)?.msg;
    };
    assert.match(String(await messageOf('["b","a","a"]')), /got that at position 1\.$/);
    assert.match(String(await messageOf('{"x":"a","y":"a"}')), /got that of an earlier one\.$/);
  });
});
