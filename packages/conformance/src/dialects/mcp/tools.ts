import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Reply } from "../../client/exchange.ts";
import {
  at,
  isList,
  isMap,
  type Json,
  leavesOf,
  namesOf,
  readJson,
  show,
  toPlain,
} from "../../client/json.ts";
import { difference, ownContract } from "../../documents.ts";
import type { Check } from "../../trial/check.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import {
  callOf,
  callTool,
  expectRefusals,
  LIST,
  MCP_PATH,
  mcpChecks,
  resultOf,
  type ToolName,
  textOf,
} from "./messages.ts";
import { canonicalSchema } from "./schemas.ts";

const STATE = "I was charged twice for one order. Give me my money back today!";
const DECIDE = {
  state: STATE,
  questions: {
    intent: {
      type: "choice",
      instructions: "What does the customer want?",
      criteria: { refund: "Wants money back", cancel: "Wants to end a subscription", other: null },
    },
    "b-ü .": { type: "noul", instructions: "The customer is angry." },
    urgency: {
      type: "score",
      instructions: "How urgent is this?",
      criteria: ["can wait", "this week", "today"],
    },
  },
};
const RANKED = {
  state: "The printer reports a paper jam.",
  question: "Which reply helps?",
  candidates: { tray: "Open tray 2.", ink: "Buy new ink.", call: "We will call you." },
};
const MODELS = "/v1/models";
/** The operation behind each tool, and the place of its schemas in the contract. */
const OPERATIONS = {
  decide: { path: SYSTEMONE, given: DECIDE, input: "SystemoneRequest", output: "Decisions" },
  rank: { path: RANK, given: RANKED, input: "RankRequest", output: "Ranking" },
  models: { path: MODELS, given: {}, input: undefined, output: "ModelList" },
} as const;
const TOOLS = Object.keys(OPERATIONS) as ToolName[]; // the literal has exactly these keys
/** Tolerance: another batch may sum in another order. */
const SAME = 1e-9;
/** Members that differ between answers to the same request. */
const VARYING = /^(latency_ms|usage\b)/;
const CALLS_AT_A_TIME = 16;

/** Calls that must be refused, each with a word that the message must contain. */
const REFUSED: readonly { name: string; tool: ToolName; given: unknown; says: string }[] = [
  { name: "no state", tool: "decide", given: { questions: DECIDE.questions }, says: "state" },
  { name: "no questions", tool: "decide", given: { state: STATE, questions: {} }, says: "questions" },
  {
    name: "an unknown type",
    tool: "decide",
    given: { state: STATE, questions: { q: { type: "boolean", instructions: "?" } } },
    says: "questions.q.type",
  },
  {
    name: "a choice of one label",
    tool: "decide",
    given: { state: STATE, questions: { q: { type: "choice", instructions: "?", criteria: { a: "b" } } } },
    says: "questions.q.criteria",
  },
  { name: "one candidate", tool: "rank", given: { ...RANKED, candidates: ["a"] }, says: "candidates" },
  { name: "no arguments", tool: "rank", given: undefined, says: "candidates" },
  { name: "an unknown member", tool: "rank", given: { ...RANKED, top: 1 }, says: "top" },
  { name: "another model", tool: "rank", given: { ...RANKED, model: "no-such-model" }, says: "model" },
  { name: "arguments of models", tool: "models", given: { a: 1 }, says: "models" },
];

async function listedTools(trial: Trial): Promise<{ reply: Reply; tools: ReadonlyMap<string, Json> }> {
  const { reply, result } = await resultOf(trial, LIST);
  const list = at(result, "tools");
  if (!isList(list)) return trial.fail(`tools is ${show(list)}`, reply);
  const tools = new Map(list.map((tool) => [String(at(tool, "name")), tool]));
  const missing = TOOLS.filter((name) => !tools.has(name));
  trial.expect(missing.length === 0, `missing tools: ${missing.join(", ")}`, reply);
  return { reply, tools };
}

/** The answer of the contract's operation. @throws CannotTell if the server does not have it */
async function plainAnswer(trial: Trial, tool: ToolName, given: unknown): Promise<Json> {
  const { path } = OPERATIONS[tool];
  const reply = tool === "models" ? await trial.get(path) : await trial.post(path, given);
  if (reply.status === 404) trial.skip(`the server has no ${path} besides ${MCP_PATH}`);
  if (reply.status === 503) trial.skip("the server's queue is full with other requests");
  trial.expect(reply.status === 200 && reply.json !== undefined, `${reply.status} from ${path}`, reply);
  return reply.json;
}

/** The first difference between two answers, order of members included; undefined if only times and counts differ. */
function partingOf(told: Json, plain: Json): string | undefined {
  const [one, other] = [told, plain].map((json) => leavesOf(json).filter(({ path }) => !VARYING.test(path)));
  for (const [index, { path, value }] of (other ?? []).entries()) {
    const given = one?.[index];
    if (given?.path !== path) return `${given?.path ?? "nothing"} in place of ${path}`;
    const isSame =
      typeof value === "number" && typeof given.value === "number"
        ? Math.abs(value - given.value) <= SAME * Math.max(1, Math.abs(value))
        : value === given.value;
    if (!isSame) return `${path} is ${show(given.value)}, in the plain contract ${show(value)}`;
  }
  return one?.length === other?.length ? undefined : `the member ${one?.[other?.length ?? 0]?.path}`;
}

/** Compares the text of a result, since `structuredContent` need not keep the order of members. */
async function checkNumbers(trial: Trial, tool: ToolName, given: unknown = OPERATIONS[tool].given) {
  const { reply, text } = await callTool(trial, tool, given);
  const told = readJson(text);
  if (told === undefined) return trial.fail(`the text is not JSON: ${text.slice(0, 100)}`, reply);
  const parting = partingOf(told, await plainAnswer(trial, tool, given));
  trial.fits(parting, reply);
}

function compile(trial: Trial, schema: Json | undefined, name: string, reply: Reply): ValidateFunction {
  try {
    if (!isMap(schema)) throw new Error("it is not an object");
    return new Ajv2020({ strict: false, validateFormats: false }).compile(Object(toPlain(schema)));
  } catch (error) {
    return trial.fail(
      `${name} is not a JSON Schema: ${error instanceof Error ? error.message : error}`,
      reply,
    );
  }
}

/** Checks that compare the three tools with the contract's operations. */
export const TOOL_CHECKS: readonly Check[] = [
  ...mcpChecks("tools", {
    "tools.listed": {
      clause: "`decide`, `rank` and `models` are listed, described, and marked as read-only and idempotent.",
      expected:
        "each with description, inputSchema, outputSchema, readOnlyHint and idempotentHint true, destructiveHint not",
      run: async (trial: Trial) => {
        const { reply, tools } = await listedTools(trial);
        for (const name of TOOLS) {
          const tool = tools.get(name);
          const text = at(tool, "description");
          const isText = typeof text === "string" && text !== "";
          trial.expect(isText, `the description of ${name} is ${show(text)}`, reply);
          for (const schema of ["inputSchema", "outputSchema"])
            trial.equal(`the type of ${schema} of ${name}`, at(tool, schema, "type"), "object", reply);
          const hints = { readOnlyHint: true, idempotentHint: true, destructiveHint: false };
          for (const [hint, wanted] of Object.entries(hints))
            trial.equal(`${hint} of ${name}`, at(tool, "annotations", hint), wanted, reply);
        }
      },
    },
    "tools.schemas": {
      clause: "The tools have the schemas of the contract's operations.",
      expected:
        "the types, members, bounds and enumerations of the contract, in either of its forms; descriptions may differ",
      run: async (trial: Trial) => {
        const { reply, tools } = await listedTools(trial);
        const forms = await Promise.all([ownContract("openapi.typed"), ownContract()]);
        for (const name of TOOLS) {
          const { input, output } = OPERATIONS[name];
          for (const [member, schema] of [
            ["inputSchema", input],
            ["outputSchema", output],
          ] as const) {
            if (schema === undefined) continue; // models has no arguments; there are several schemas for that
            const given = at(tools.get(name), member) ?? null;
            const served = canonicalSchema(given, given);
            const found = forms.map(({ json }) => {
              const wanted = at(json, "components", "schemas", schema) ?? null;
              return difference(canonicalSchema(wanted, json), served, [name, member]);
            });
            trial.expect(found.includes(undefined), found[0] ?? "", reply);
          }
        }
      },
    },
    "tools.fit": {
      clause: "Accepted arguments and results fit the listed schemas.",
      expected: "JSON Schemas, and results that fit them",
      run: async (trial: Trial) => {
        const { reply, tools } = await listedTools(trial);
        for (const name of TOOLS) {
          const { given } = OPERATIONS[name];
          const called = await callTool(trial, name, given);
          for (const [member, value] of [
            ["inputSchema", given],
            ["outputSchema", toPlain(called.structured)],
          ] as const) {
            const isFitting = compile(trial, at(tools.get(name), member), `${member} of ${name}`, reply);
            const fits = isFitting(value);
            const { instancePath, message } = isFitting.errors?.[0] ?? {};
            trial.expect(fits, `${instancePath} does not fit ${member} of ${name}: ${message}`, called.reply);
          }
        }
      },
    },
    "decide.numbers": {
      clause: "`decide` returns the numbers of POST /v1/systemone, for each type of question.",
      expected: "the same answers, names in the same order, the same model and temperature",
      run: (trial: Trial) => checkNumbers(trial, "decide"),
    },
    "rank.numbers": {
      clause: "`rank` returns the numbers of POST /v1/rank, for labelled and for listed candidates.",
      expected: "the same ranking",
      run: async (trial: Trial) => {
        await checkNumbers(trial, "rank");
        await checkNumbers(trial, "rank", { ...RANKED, candidates: Object.values(RANKED.candidates) });
      },
    },
    "models.same": {
      clause: "`models` returns the list of GET /v1/models, without taking a place in the queue.",
      expected: "the same list, with and without an empty object of arguments",
      needsInference: false,
      run: async (trial: Trial) => {
        if (trial.facts.noInference !== undefined) trial.skip(trial.facts.noInference);
        for (const given of [{}, undefined]) {
          const { reply, structured } = await callTool(trial, "models", given);
          const parting = partingOf(structured, await plainAnswer(trial, "models", given));
          trial.fits(parting, reply);
        }
      },
    },
    "results.text": {
      clause: "The content is one text with the JSON of `structuredContent`.",
      expected: "the same members with the same values",
      run: async (trial: Trial) => {
        for (const name of TOOLS) {
          const { reply, structured, text } = await callTool(trial, name, OPERATIONS[name].given);
          const told = readJson(text);
          const lines = (json: Json) =>
            leavesOf(json)
              .map(({ path, value }) => `${path}: ${JSON.stringify(toPlain(value))}`)
              .toSorted()
              .join();
          const isSame = told !== undefined && lines(told) === lines(structured);
          trial.expect(isSame, `the text of ${name} is ${text.slice(0, 200)}`, reply);
        }
      },
    },
    "arguments.order": {
      clause: "Members keep the order of the call, also if their names look like integers.",
      expected: "the names of a choice in the text of the result, in the order of the call",
      run: async (trial: Trial) => {
        const criteria = '{"10": "Wants money back", "9": "Wants to leave", "a": "Wants help"}';
        const { reply, text } = await callRaw(
          trial,
          `{"state": "${STATE}", "questions": {"q": {"type": "choice", "instructions": "What?", "criteria": ${criteria}}}}`,
        );
        const names = namesOf(at(readJson(text), "answers", "q", "scores"));
        trial.expect(names.join() === "10,9,a", `the names ${names.join()}`, reply);
      },
    },
    "arguments.digits": {
      clause: "Long integers keep all their digits.",
      expected: "the scores of the same digits as text, and other scores for other digits",
      run: async (trial: Trial) => {
        const scoresOf = async (state: string) => {
          const question =
            '{"type": "choice", "instructions": "Paid?", "criteria": {"due": "Owed", "paid": "Paid"}}';
          const { text } = await callRaw(trial, `{"state": ${state}, "questions": {"q": ${question}}}`);
          return show(at(readJson(text), "answers", "q", "scores"));
        };
        const number = await scoresOf('{"n": 9007199254740993}');
        const text = await scoresOf('"n: 9007199254740993"');
        const other = await scoresOf('"n: 9007199254740992"');
        const isKept = number === text && number !== other;
        trial.expect(isKept, `${number}, as text ${text}, of other digits ${other}`);
      },
    },
    "arguments.duplicates": {
      clause: "A duplicate member is refused, as in the contract.",
      expected: "a result with isError that names the member",
      run: async (trial: Trial) => {
        const given = '{"state": "a", "state": "b", "candidates": ["c", "d"]}';
        const { reply, result } = await resultOf(trial, { id: 1, text: rawCall("rank", given) });
        const text = textOf(result) ?? "";
        trial.expect(at(result, "isError") === true && text.includes("state"), text || show(result), reply);
      },
    },
    "calls.belong": {
      clause: "Each of many concurrent calls gets its own answer.",
      expected: "with each id the texts of its own candidates",
      run: async (trial: Trial) => {
        const own = async (index: number) => {
          const texts = [`reply ${index} a`, `reply ${index} b`];
          const message = callOf("rank", { state: `Case ${index}.`, candidates: texts }, `call ${index}`);
          const { reply, result } = await resultOf(trial, message);
          if (textOf(result)?.includes("full")) trial.skip("the server's queue is full");
          const ranked = at(result, "structuredContent", "ranked");
          const told = isList(ranked) ? ranked.map((row) => String(at(row, "text"))) : [];
          trial.expect(told.toSorted().join() === texts.join(), `the texts ${told.join()}`, reply);
        };
        await trial.each([...Array(CALLS_AT_A_TIME).keys()], own, CALLS_AT_A_TIME);
      },
    },
    "errors.arguments": {
      clause: "Invalid arguments give a result with an error that names the fault's place.",
      expected: "a result with isError true and one text that names the place",
      run: (trial: Trial) =>
        trial.each(REFUSED, async ({ tool, given, says }) => {
          const { reply, result } = await resultOf(trial, callOf(tool, given));
          trial.expect(at(result, "isError") === true, `isError is ${show(at(result, "isError"))}`, reply);
          const text = textOf(result);
          const isNamed = text?.includes(says) === true;
          trial.expect(isNamed, `the text ${JSON.stringify(text)}, without ${says}`, reply);
        }),
    },
    "errors.tool": {
      clause: "An unknown tool, and arguments that are not an object, get a protocol error.",
      expected: "the error -32602 under the request's id",
      run: (trial) => {
        const messages = [
          callOf("no-such-tool", {}, "t"),
          callOf("Decide", DECIDE, "t"),
          callOf("rank", "text", "t"),
          callOf("rank", [1], "t"),
        ];
        return expectRefusals(trial, messages, { code: -32_602, id: "t" });
      },
    },
  }),
];

const rawCall = (name: ToolName, given: string): string =>
  `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "${name}", "arguments": ${given}}}`;

/** Calls `decide` with arguments given as JSON text. */
async function callRaw(trial: Trial, given: string): Promise<{ reply: Reply; text: string }> {
  const { reply, result } = await resultOf(trial, { id: 1, text: rawCall("decide", given) });
  const text = textOf(result);
  if (text?.includes("full")) trial.skip("the server's queue is full");
  if (at(result, "isError") === true || text === undefined) return trial.fail(`an error: ${text}`, reply);
  return { reply, text };
}
