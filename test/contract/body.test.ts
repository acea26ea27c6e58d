import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Contract, HandledId } from "../../src/contract/call.ts";
import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
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

const good: readonly (readonly [string, HandledId, unknown])[] = [
  ["a question of each type", "systemone", ask({ choice, noul, score })],
  ["any JSON as state", "systemone", { ...one(noul), state: [null, { a: [1.5] }] }],
  ["null as state", "systemone", { ...one(noul), state: null }],
  ["null as instructions", "systemone", one({ ...choice, instructions: null })],
  ["the most questions", "systemone", ask(numbered(maxQuestions, noul))],
  ["an empty question name", "systemone", ask({ "": noul })],
  ["2 labels", "systemone", one({ ...choice, criteria: numbered(2, "d") })],
  ["the most labels", "systemone", one({ ...choice, criteria: numbered(maxCandidates, null) })],
  ["2 levels", "systemone", one({ ...score, criteria: list(2) })],
  ["the most levels", "systemone", one({ ...score, criteria: list(maxCandidates) })],
  ["null noul criteria", "systemone", one({ ...noul, criteria: null })],
  ["empty noul criteria", "systemone", one({ ...noul, criteria: {} })],
  ["one described outcome", "systemone", one({ ...noul, criteria: { true: [1] } })],
  ["a model", "systemone", ask({ q: noul }, { model: "m" })],
  ["a list of candidates", "rank", rank({})],
  ["labelled candidates", "rank", rank({ candidates: { x: "a", y: "b" } })],
  ["a null question", "rank", rank({ question: null })],
];

/** Faults as `loc` without "body", type, and what the message must hold. */
const bad: readonly (readonly [
  string,
  unknown,
  readonly (readonly [loc: readonly (string | number)[], type: string, msg: RegExp])[],
  HandledId?,
])[] = [
  ["an empty body", "", [[[], "invalid_json", /empty/]]],
  ["white space only", " \n", [[[], "invalid_json", /./]]],
  ["half a body", '{"state":1', [[[], "invalid_json", /./]]],
  ["an array", [], [[[], "wrong_type", /an object, got an array/]]],
  ["a JSON string that holds an object", '"{}"', [[[], "wrong_type", /an object, got a string/]]],
  ["null", "null", [[[], "wrong_type", /an object, got null/]]],
  ["a number", "1", [[[], "wrong_type", /an object, got a number/]]],
  [
    "nothing in the object",
    {},
    [
      [["state"], "missing", /"state", got nothing/],
      [["questions"], "missing", /"questions", got nothing/],
    ],
  ],
  ["a duplicate member", '{"state":1,"state":2}', [[["state"], "duplicate_member", /./]]],
  [
    "101 levels",
    `{"state":${"[".repeat(100)}${"]".repeat(100)}}`,
    [[["state", ...Array(99).fill(0)], "nesting_too_deep", /100/]],
  ],
  [
    "an unknown member",
    ask({ q: noul }, { temperature: 1 }),
    [[["temperature"], "unknown_field", /"state", "questions", "model", got another/]],
  ],
  [
    "a long unknown member",
    ask({ q: noul }, { ["x".repeat(5000)]: 1 }),
    [[["x".repeat(100)], "unknown_field", /./]],
  ],
  [
    "a member named __proto__",
    `{"state":1,"questions":{"q":${JSON.stringify(noul)}},"__proto__":{}}`,
    [[["__proto__"], "unknown_field", /./]],
  ],
  ["questions in a list", ask([noul]), [[["questions"], "wrong_type", /an object, got an array/]]],
  ["null as questions", ask(null), [[["questions"], "wrong_type", /an object, got null/]]],
  ["no question", ask({}), [[["questions"], "too_few", /at least 1 member, got 0/]]],
  [
    "a question too many",
    ask(numbered(maxQuestions + 1, noul)),
    [[["questions"], "too_many", past(maxQuestions, "members")]],
  ],
  ["a null model", ask({ q: noul }, { model: null }), [[["model"], "wrong_type", /a string, got null/]]],
  [
    "a model that is an object",
    ask({ q: noul }, { model: {} }),
    [[["model"], "wrong_type", /a string, got an object/]],
  ],
  [
    "a question that is a string",
    one("So?"),
    [[["questions", "q"], "wrong_type", /an object, got a string/]],
  ],
  ["a question that is a number", one(5), [[["questions", "q"], "wrong_type", /an object, got a number/]]],
  ["a question that is null", one(null), [[["questions", "q"], "wrong_type", /an object, got null/]]],
  [
    "a question without a type",
    one({ instructions: 1 }),
    [[["questions", "q", "type"], "missing", /"choice", "noul" or "score", got nothing/]],
  ],
  [
    "a question of an unknown type",
    one({ type: "bool", foo: 1 }),
    [[["questions", "q", "type"], "unknown_value", /"choice", "noul" or "score", got another/]],
  ],
  [
    "a question whose type is a number",
    one({ type: 1 }),
    [[["questions", "q", "type"], "wrong_type", /"score", got a number/]],
  ],
  [
    "a question whose type is a list",
    one({ type: ["noul"] }),
    [[["questions", "q", "type"], "wrong_type", /"score", got an array/]],
  ],
  [
    "a question whose type is null",
    one({ type: null }),
    [[["questions", "q", "type"], "wrong_type", /"score", got null/]],
  ],
  [
    "a type that every object has",
    one({ type: "constructor" }),
    [[["questions", "q", "type"], "unknown_value", /./]],
  ],
  [
    "a choice with nothing else",
    one({ type: "choice" }),
    [
      [["questions", "q", "instructions"], "missing", /nothing/],
      [["questions", "q", "criteria"], "missing", /nothing/],
    ],
  ],
  ["a noul with nothing else", one({ type: "noul" }), [[["questions", "q", "instructions"], "missing", /./]]],
  [
    "a score without criteria",
    one({ type: "score", instructions: 1 }),
    [[["questions", "q", "criteria"], "missing", /./]],
  ],
  [
    "an unknown member of a question",
    one({ ...noul, weight: 1 }),
    [[["questions", "q", "weight"], "unknown_field", /"type", "instructions", "criteria", got/]],
  ],
  [
    "null as a choice's criteria",
    one({ ...choice, criteria: null }),
    [[["questions", "q", "criteria"], "wrong_type", /an object, got null/]],
  ],
  [
    "a choice's criteria in a list",
    one({ ...choice, criteria: ["a", "b"] }),
    [[["questions", "q", "criteria"], "wrong_type", /an object, got an array/]],
  ],
  [
    "1 label",
    one({ ...choice, criteria: { a: "A" } }),
    [[["questions", "q", "criteria"], "too_few", /at least 2 members, got 1/]],
  ],
  [
    "a label too many",
    one({ ...choice, criteria: numbered(maxCandidates + 1, "d") }),
    [[["questions", "q", "criteria"], "too_many", past(maxCandidates, "members")]],
  ],
  [
    "a score's criteria in an object",
    one({ ...score, criteria: { 0: "a", 1: "b" } }),
    [[["questions", "q", "criteria"], "wrong_type", /an array, got an object/]],
  ],
  [
    "1 level",
    one({ ...score, criteria: ["a"] }),
    [[["questions", "q", "criteria"], "too_few", /at least 2 elements, got 1/]],
  ],
  [
    "a level too many",
    one({ ...score, criteria: list(maxCandidates + 1) }),
    [[["questions", "q", "criteria"], "too_many", past(maxCandidates, "elements")]],
  ],
  [
    "5 outcomes",
    one({ ...noul, criteria: numbered(5, 1) }),
    Object.keys(numbered(5, 1)).map((name) => [
      ["questions", "q", "criteria", name],
      "unknown_field",
      /only the members "false", "true", "no", "yes", got another/,
    ]),
  ],
  [
    "noul criteria in a list",
    one({ ...noul, criteria: ["a", "b"] }),
    [[["questions", "q", "criteria"], "wrong_type", /an object or null, got an array/]],
  ],
  [
    "a question name with slashes and tildes",
    ask({ "a/b~1": { type: "noul" } }),
    [[["questions", "a/b~1", "instructions"], "missing", /./]],
  ],
  [
    "faults in several questions",
    ask({ a: { type: "x" }, b: noul, c: { ...score, criteria: "high" } }, { model: 1 }),
    [
      [["questions", "a", "type"], "unknown_value", /./],
      [["questions", "c", "criteria"], "wrong_type", /an array, got a string/],
      [["model"], "wrong_type", /./],
    ],
  ],
  ["a rank request without candidates", { state: 1 }, [[["candidates"], "missing", /./]], "rank"],
  ["a rank request without a state", { candidates: ["a", "b"] }, [[["state"], "missing", /./]], "rank"],
  [
    "faults of all kinds of shape at once",
    { state: "s", context: "s", answers: { x: "a", y: 1 }, top_n: 1 },
    [
      [["context"], "alias_conflict", /./],
      [["top_n"], "unknown_field", /./],
      [["answers", "y"], "wrong_type", /a string, got a number/],
    ],
    "rank",
  ],
  [
    "candidates that are neither an object nor an array",
    rank({ candidates: "a, b" }),
    [[["candidates"], "wrong_type", /an object or an array, got a string/]],
    "rank",
  ],
  [
    "too few labelled candidates",
    rank({ candidates: { x: "a" } }),
    [[["candidates"], "too_few", /at least 2 members, got 1/]],
    "rank",
  ],
  [
    "both names of both members",
    rank({ context: "c", answers: [] }),
    [
      [["context"], "alias_conflict", /either "state" or its alias "context", got both/],
      [["answers"], "alias_conflict", /either "candidates" or its alias "answers", got both/],
    ],
    "rank",
  ],
  [
    "another name beside a null state",
    rank({ state: null, context: "c" }),
    [[["context"], "alias_conflict", /./]],
    "rank",
  ],
  [
    "an unknown member of a rank request",
    rank({ top_n: 1 }),
    [[["top_n"], "unknown_field", /"state", "candidates", "question", "model", got another/]],
    "rank",
  ],
  [
    "a rank request's null model",
    rank({ model: null }),
    [[["model"], "wrong_type", /a string, got null/]],
    "rank",
  ],
];

describe("a request's body", () => {
  let contract: Contract;
  before(async () => {
    contract = await fakeContract();
  });

  for (const [name, operationId, body] of good) {
    it(`may hold ${name}`, async () => {
      const reply = await call(contract, operationId, body);
      assert.equal(reply.status, 200, reply.body);
      assert.deepEqual(JSON.parse(reply.body).received, body);
    });
  }

  for (const [name, body, want, operationId = "systemone"] of bad) {
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
