import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Contract, HandledId } from "../../src/contract/call.ts";
import { REQUEST_LIMITS } from "../../src/decisions/limits.ts";
import type { Issue } from "../../src/errors.ts";
import { call, fakeContract, REQUEST_ID } from "./fake-contract.ts";
import { assertDeclared } from "./response-check.ts";

const { maxQuestions, maxCandidates } = REQUEST_LIMITS;
/** What is said of one more than `most`. */
const past = (most: number, what: string) => new RegExp(`at most ${most} ${what}, got ${most + 1}`);

const choice = { type: "choice", instructions: "Which?", criteria: { a: "A", b: "B" } };
const noul = { type: "noul", instructions: "So?" };
const score = { type: "score", instructions: "How much?", criteria: ["low", "high"] };

const ask = (questions: unknown, others: object = {}) => ({ state: "s", questions, ...others });
const one = (question: unknown) => ask({ q: question });
const numbered = <T>(count: number, value: T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, value]));
const list = (count: number) => Array.from({ length: count }, (_, i) => `level ${i}`);
const rank = (members: object) => ({ state: "s", candidates: ["a", "b"], ...members });

const good: readonly { name: string; operationId: HandledId; body: unknown }[] = [
  { name: "a question of each type", operationId: "systemone", body: ask({ choice, noul, score }) },
  {
    name: "any JSON as state",
    operationId: "systemone",
    body: { ...one(noul), state: [null, { a: [1.5] }] },
  },
  { name: "null as state", operationId: "systemone", body: { ...one(noul), state: null } },
  { name: "null as instructions", operationId: "systemone", body: one({ ...choice, instructions: null }) },
  { name: "the most questions", operationId: "systemone", body: ask(numbered(maxQuestions, noul)) },
  { name: "an empty question name", operationId: "systemone", body: ask({ "": noul }) },
  { name: "2 labels", operationId: "systemone", body: one({ ...choice, criteria: numbered(2, "d") }) },
  {
    name: "the most labels",
    operationId: "systemone",
    body: one({ ...choice, criteria: numbered(maxCandidates, null) }),
  },
  { name: "2 levels", operationId: "systemone", body: one({ ...score, criteria: list(2) }) },
  {
    name: "the most levels",
    operationId: "systemone",
    body: one({ ...score, criteria: list(maxCandidates) }),
  },
  { name: "null noul criteria", operationId: "systemone", body: one({ ...noul, criteria: null }) },
  { name: "empty noul criteria", operationId: "systemone", body: one({ ...noul, criteria: {} }) },
  {
    name: "one described outcome",
    operationId: "systemone",
    body: one({ ...noul, criteria: { true: [1] } }),
  },
  { name: "a model", operationId: "systemone", body: ask({ q: noul }, { model: "m" }) },
  { name: "a list of candidates", operationId: "rank", body: rank({}) },
  { name: "labelled candidates", operationId: "rank", body: rank({ candidates: { x: "a", y: "b" } }) },
  { name: "a null question", operationId: "rank", body: rank({ question: null }) },
];

/** Faults as `loc` without "body", type, and what the message must hold. */
const bad: readonly {
  name: string;
  operationId?: HandledId;
  body: unknown;
  want: readonly (readonly [loc: readonly (string | number)[], type: string, msg: RegExp])[];
}[] = [
  { name: "an empty body", body: "", want: [[[], "invalid_json", /empty/]] },
  { name: "white space only", body: " \n", want: [[[], "invalid_json", /./]] },
  { name: "half a body", body: '{"state":1', want: [[[], "invalid_json", /./]] },
  { name: "an array", body: [], want: [[[], "wrong_type", /an object, got an array/]] },
  {
    name: "a JSON string that holds an object",
    body: '"{}"',
    want: [[[], "wrong_type", /an object, got a string/]],
  },
  { name: "null", body: "null", want: [[[], "wrong_type", /an object, got null/]] },
  { name: "a number", body: "1", want: [[[], "wrong_type", /an object, got a number/]] },
  {
    name: "nothing in the object",
    body: {},
    want: [
      [["state"], "missing", /"state", got nothing/],
      [["questions"], "missing", /"questions", got nothing/],
    ],
  },
  { name: "a duplicate member", body: '{"state":1,"state":2}', want: [[["state"], "duplicate_member", /./]] },
  {
    name: "101 levels",
    body: `{"state":${"[".repeat(100)}${"]".repeat(100)}}`,
    want: [[["state", ...Array(99).fill(0)], "nesting_too_deep", /100/]],
  },
  {
    name: "an unknown member",
    body: ask({ q: noul }, { temperature: 1 }),
    want: [[["temperature"], "unknown_field", /"state", "questions", "model", got another/]],
  },
  {
    name: "a long unknown member",
    body: ask({ q: noul }, { ["x".repeat(5000)]: 1 }),
    want: [[["x".repeat(100)], "unknown_field", /./]],
  },
  {
    name: "a member named __proto__",
    body: `{"state":1,"questions":{"q":${JSON.stringify(noul)}},"__proto__":{}}`,
    want: [[["__proto__"], "unknown_field", /./]],
  },
  {
    name: "questions in a list",
    body: ask([noul]),
    want: [[["questions"], "wrong_type", /an object, got an array/]],
  },
  {
    name: "null as questions",
    body: ask(null),
    want: [[["questions"], "wrong_type", /an object, got null/]],
  },
  { name: "no question", body: ask({}), want: [[["questions"], "too_few", /at least 1 member, got 0/]] },
  {
    name: "a question too many",
    body: ask(numbered(maxQuestions + 1, noul)),
    want: [[["questions"], "too_many", past(maxQuestions, "members")]],
  },
  {
    name: "a null model",
    body: ask({ q: noul }, { model: null }),
    want: [[["model"], "wrong_type", /a string, got null/]],
  },
  {
    name: "a model that is an object",
    body: ask({ q: noul }, { model: {} }),
    want: [[["model"], "wrong_type", /a string, got an object/]],
  },
  {
    name: "a question that is a string",
    body: one("So?"),
    want: [[["questions", "q"], "wrong_type", /an object, got a string/]],
  },
  {
    name: "a question that is a number",
    body: one(5),
    want: [[["questions", "q"], "wrong_type", /an object, got a number/]],
  },
  {
    name: "a question that is null",
    body: one(null),
    want: [[["questions", "q"], "wrong_type", /an object, got null/]],
  },
  {
    name: "a question without a type",
    body: one({ instructions: 1 }),
    want: [[["questions", "q", "type"], "missing", /"choice", "noul" or "score", got nothing/]],
  },
  {
    name: "a question of an unknown type",
    body: one({ type: "bool", foo: 1 }),
    want: [[["questions", "q", "type"], "unknown_value", /"choice", "noul" or "score", got another/]],
  },
  {
    name: "a question whose type is a number",
    body: one({ type: 1 }),
    want: [[["questions", "q", "type"], "wrong_type", /"score", got a number/]],
  },
  {
    name: "a question whose type is a list",
    body: one({ type: ["noul"] }),
    want: [[["questions", "q", "type"], "wrong_type", /"score", got an array/]],
  },
  {
    name: "a question whose type is null",
    body: one({ type: null }),
    want: [[["questions", "q", "type"], "wrong_type", /"score", got null/]],
  },
  {
    name: "a type that every object has",
    body: one({ type: "constructor" }),
    want: [[["questions", "q", "type"], "unknown_value", /./]],
  },
  {
    name: "a choice with nothing else",
    body: one({ type: "choice" }),
    want: [
      [["questions", "q", "instructions"], "missing", /nothing/],
      [["questions", "q", "criteria"], "missing", /nothing/],
    ],
  },
  {
    name: "a noul with nothing else",
    body: one({ type: "noul" }),
    want: [[["questions", "q", "instructions"], "missing", /./]],
  },
  {
    name: "a score without criteria",
    body: one({ type: "score", instructions: 1 }),
    want: [[["questions", "q", "criteria"], "missing", /./]],
  },
  {
    name: "an unknown member of a question",
    body: one({ ...noul, weight: 1 }),
    want: [[["questions", "q", "weight"], "unknown_field", /"type", "instructions", "criteria", got/]],
  },
  {
    name: "null as a choice's criteria",
    body: one({ ...choice, criteria: null }),
    want: [[["questions", "q", "criteria"], "wrong_type", /an object, got null/]],
  },
  {
    name: "a choice's criteria in a list",
    body: one({ ...choice, criteria: ["a", "b"] }),
    want: [[["questions", "q", "criteria"], "wrong_type", /an object, got an array/]],
  },
  {
    name: "1 label",
    body: one({ ...choice, criteria: { a: "A" } }),
    want: [[["questions", "q", "criteria"], "too_few", /at least 2 members, got 1/]],
  },
  {
    name: "a label too many",
    body: one({ ...choice, criteria: numbered(maxCandidates + 1, "d") }),
    want: [[["questions", "q", "criteria"], "too_many", past(maxCandidates, "members")]],
  },
  {
    name: "a score's criteria in an object",
    body: one({ ...score, criteria: { 0: "a", 1: "b" } }),
    want: [[["questions", "q", "criteria"], "wrong_type", /an array, got an object/]],
  },
  {
    name: "1 level",
    body: one({ ...score, criteria: ["a"] }),
    want: [[["questions", "q", "criteria"], "too_few", /at least 2 elements, got 1/]],
  },
  {
    name: "a level too many",
    body: one({ ...score, criteria: list(maxCandidates + 1) }),
    want: [[["questions", "q", "criteria"], "too_many", past(maxCandidates, "elements")]],
  },
  {
    name: "5 outcomes",
    body: one({ ...noul, criteria: numbered(5, 1) }),
    want: Object.keys(numbered(5, 1)).map((name) => [
      ["questions", "q", "criteria", name],
      "unknown_field",
      /only the members "false", "true", "no", "yes", got another/,
    ]),
  },
  {
    name: "noul criteria in a list",
    body: one({ ...noul, criteria: ["a", "b"] }),
    want: [[["questions", "q", "criteria"], "wrong_type", /an object or null, got an array/]],
  },
  {
    name: "a question name with slashes and tildes",
    body: ask({ "a/b~1": { type: "noul" } }),
    want: [[["questions", "a/b~1", "instructions"], "missing", /./]],
  },
  {
    name: "faults in several questions",
    body: ask({ a: { type: "x" }, b: noul, c: { ...score, criteria: "high" } }, { model: 1 }),
    want: [
      [["questions", "a", "type"], "unknown_value", /./],
      [["questions", "c", "criteria"], "wrong_type", /an array, got a string/],
      [["model"], "wrong_type", /./],
    ],
  },
  {
    name: "a rank request without candidates",
    operationId: "rank",
    body: { state: 1 },
    want: [[["candidates"], "missing", /./]],
  },
  {
    name: "a rank request without a state",
    operationId: "rank",
    body: { candidates: ["a", "b"] },
    want: [[["state"], "missing", /./]],
  },
  {
    name: "faults of all kinds of shape at once",
    operationId: "rank",
    body: { state: "s", context: "s", answers: { x: "a", y: 1 }, top_n: 1 },
    want: [
      [["context"], "alias_conflict", /./],
      [["top_n"], "unknown_field", /./],
      [["answers", "y"], "wrong_type", /a string, got a number/],
    ],
  },
  {
    name: "candidates that are neither an object nor an array",
    operationId: "rank",
    body: rank({ candidates: "a, b" }),
    want: [[["candidates"], "wrong_type", /an object or an array, got a string/]],
  },
  {
    name: "too few labelled candidates",
    operationId: "rank",
    body: rank({ candidates: { x: "a" } }),
    want: [[["candidates"], "too_few", /at least 2 members, got 1/]],
  },
  {
    name: "both names of both members",
    operationId: "rank",
    body: rank({ context: "c", answers: [] }),
    want: [
      [["context"], "alias_conflict", /either "state" or its alias "context", got both/],
      [["answers"], "alias_conflict", /either "candidates" or its alias "answers", got both/],
    ],
  },
  {
    name: "another name beside a null state",
    operationId: "rank",
    body: rank({ state: null, context: "c" }),
    want: [[["context"], "alias_conflict", /./]],
  },
  {
    name: "an unknown member of a rank request",
    operationId: "rank",
    body: rank({ top_n: 1 }),
    want: [[["top_n"], "unknown_field", /"state", "candidates", "question", "model", got another/]],
  },
  {
    name: "a rank request's null model",
    operationId: "rank",
    body: rank({ model: null }),
    want: [[["model"], "wrong_type", /a string, got null/]],
  },
];

describe("a request's body", () => {
  let contract: Contract;
  before(async () => {
    contract = await fakeContract();
  });

  for (const { name, operationId, body } of good) {
    it(`may hold ${name}`, async () => {
      const reply = await call(contract, operationId, body);
      assert.equal(reply.status, 200, reply.body);
      assert.deepEqual(JSON.parse(reply.body).received, body);
    });
  }

  for (const { name, operationId = "systemone", body, want } of bad) {
    it(`is refused for ${name}`, async () => {
      const issues = await issuesOf(contract, operationId, body);
      assert.deepEqual(
        issues.map(({ loc, type }) => [loc, type]),
        want.map(([loc, type]) => [["body", ...loc], type]),
      );
      for (const [i, [, , msg]] of want.entries()) assert.match(issues[i]?.msg ?? "", msg);
    });
  }

  it("is refused without repeating what it holds", async () => {
    const secret = "pssst";
    const body = { state: secret, questions: { q: { type: secret, instructions: secret } }, model: [secret] };
    assert.doesNotMatch(JSON.stringify(await issuesOf(contract, "systemone", body)), /pssst/);
  });

  it("is refused with at most 20 issues and the true count for 60,000 bad questions", async () => {
    const issues = await issuesOf(contract, "systemone", ask(numbered(60_000, { x: [] })));
    assert.equal(issues.length, 20);
    assert.deepEqual(issues[0], {
      loc: ["body", "questions"],
      msg: `Expected at most ${maxQuestions} members, got 60000.`,
      type: "too_many",
    });
  });

  it("is refused with at most 20 issues for 100,000 unknown members, of a question too", async () => {
    for (const body of [ask({ q: noul }, numbered(100_000, 1)), one({ ...noul, ...numbered(100_000, 1) })]) {
      const issues = await issuesOf(contract, "systemone", body);
      assert.deepEqual(new Set(issues.map(({ type }) => type)), new Set(["unknown_field"]));
      assert.equal(issues.length, 20);
    }
  });

  async function issuesOf(from: Contract, operationId: HandledId, body: unknown): Promise<readonly Issue[]> {
    const reply = await call(from, operationId, body);
    const parsed = JSON.parse(reply.body);
    assert.equal(reply.status, 422, reply.body);
    assertDeclared(operationId, 422, { ...reply.headers, "x-request-id": REQUEST_ID }, parsed);
    return parsed.detail;
  }
});
