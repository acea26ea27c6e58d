import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createFastEngine, MODEL_ID } from "../../packages/conformance/test/fast-engine.ts";
import { createApp } from "../../src/app.ts";
import { assertPlaces, checkOf } from "../contract/response-check.ts";

const KEY = "the-key";
const TEMPERATURE = 4.136820402388508;
const silent = () => {};
const LOG = { debug: silent, info: silent, warn: silent, error: silent };
const check = checkOf("typesafe");

const engine = await createFastEngine();
const app = await createApp(engine, {
  apiKey: KEY,
  log: LOG,
  maxConnections: 100,
  headersTimeoutMs: 20_000,
  bodyMemoryMb: 64,
  typesafeAlias: ["my-model"],
});
after(async () => {
  await app.close();
  await engine.close();
});

// biome-ignore lint/suspicious/noExplicitAny: answers are checked against the document
type Answers = any;
interface Sent {
  readonly payload: string | Buffer | object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks; the answer fits the document. */
async function ask({ payload, headers = {} }: Sent) {
  const answer = await app.inject({
    method: "POST",
    url: "/typesafe/v1/systemone",
    headers: { "content-type": "application/json", authorization: `Bearer ${KEY}`, ...headers },
    payload: typeof payload === "string" || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
  });
  const body = answer.json();
  check("typesafeSystemone", answer.statusCode, answer.headers, body);
  return { status: answer.statusCode, headers: answer.headers, body };
}

async function answersTo(questions: object, state: unknown = "My parcel never came."): Promise<Answers> {
  const { status, body } = await ask({ payload: { model: "jev-latest", state, questions } });
  assert.equal(status, 200, JSON.stringify(body));
  return body.answers;
}

async function issuesOf(questions: object, state: unknown = "My parcel never came.", others: object = {}) {
  const payload = { state, questions, ...others };
  const { status, body } = await ask({ payload });
  assert.equal(status, 422, JSON.stringify(body));
  assertPlaces(JSON.stringify(payload), body);
  return body.detail;
}

/** Raw scores of the plain contract. */
async function plainScores(question: object, state: unknown = "My parcel never came."): Promise<number[]> {
  const answer = await app.inject({
    method: "POST",
    url: "/v1/systemone",
    headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
    payload: JSON.stringify({ state, questions: { q: question } }),
  });
  assert.equal(answer.statusCode, 200, answer.body);
  return Object.values(answer.json().answers.q.scores);
}

function softmax(scores: readonly number[]): number[] {
  const largest = Math.max(...scores);
  const weights = scores.map((score) => Math.exp((score - largest) / TEMPERATURE));
  const total = weights.reduce((sum, weight) => sum + weight);
  return weights.map((weight) => weight / total);
}

const round = (value: number) => Math.round(value * 100) / 100;
const NOUL = { type: "noul", instructions: "The customer is angry." };

describe("the TypeSafe dialect", () => {
  it("gives the plain contract's numbers, rounded, in the forms of the hosted service", async () => {
    const choice = {
      type: "choice",
      instructions: "What does the customer want?",
      criteria: { "2": "Wants money back", "1": "Asks where a parcel is" },
    };
    const score = { type: "score", instructions: "How urgent?", criteria: ["can wait", "today"] };
    const answers = await answersTo({ choice, noul: NOUL, score });
    assert.deepEqual(Object.keys(answers), ["choice", "noul", "score"]);
    const shares = softmax(await plainScores(choice));
    // the order of names that look like numbers is lost in JavaScript's objects: the scores came as 1, 2
    assert.deepEqual(answers.choice.probabilities, {
      "1": round(shares[0] ?? 0),
      "2": round(shares[1] ?? 0),
    });
    assert.equal(answers.choice.confidence, round(2 * Math.max(...shares) - 1));
    assert.deepEqual(answers.noul, { type: "noul", noul: round(softmax(await plainScores(NOUL))[1] ?? 0) });
    const levels = softmax(await plainScores(score));
    assert.equal(answers.score.score, round(levels[1] ?? 0));
    assert.deepEqual(answers.score.legend, { "0": "can wait", "1": "today" });
  });

  it("joins the scores of 255 options before it makes probabilities of them", async () => {
    const entries = Array.from({ length: 255 }, (_, at) => [
      `option ${at}`,
      at % 3 === 0 ? null : `text ${at}`,
    ]);
    const question = { type: "choice", instructions: "Which?", criteria: Object.fromEntries(entries) };
    const scores: number[] = [];
    for (let at = 0; at < 255; at += 51) {
      const criteria = Object.fromEntries(entries.slice(at, at + 51));
      scores.push(...(await plainScores({ ...question, criteria })));
    }
    const shares = softmax(scores);
    const { q } = await answersTo({ q: question });
    assert.deepEqual(Object.values(q.probabilities), shares.map(round));
    assert.equal(q.choice, entries[shares.indexOf(Math.max(...shares))]?.[0]);
  });

  it("takes a state out of the parts that the AI SDK puts it into", async () => {
    const noul = async (state: unknown) => (await answersTo({ q: NOUL }, state)).q.noul;
    const text = "The parcel is late.";
    assert.equal(await noul([{ type: "text", text }]), await noul(text));
    const value = { order: 48213, paid: true };
    assert.equal(await noul([{ type: "json", value }]), await noul(value));
    const both = [
      { type: "text", text },
      { type: "json", value },
    ];
    assert.equal(await noul(both), await noul([text, value]));
    const metadata = { gateway: { tag: "a" } };
    for (const more of [
      { providerOptions: metadata },
      { providerOptions: {} },
      { providerOptions: null },
      { providerMetadata: metadata },
      { experimental_providerMetadata: metadata },
      { cache_control: { type: "ephemeral" }, citations: null },
    ]) {
      assert.equal(await noul([{ type: "text", text, ...more }]), await noul(text), JSON.stringify(more));
      assert.equal(await noul([{ ...more, type: "json", value }]), await noul(value), JSON.stringify(more));
      assert.equal(await noul(both.map((part) => ({ ...part, ...more }))), await noul(both));
    }
    // lists that only look like it
    const other = [{ type: "text", text, more: 1 }];
    const [plain] = softmax(await plainScores(NOUL, other)).slice(1);
    assert.equal(await noul(other), round(plain ?? 0));
    const [issue] = await issuesOf({ q: NOUL }, [{ type: "file", mediaType: "image/png", data: "AAAA" }]);
    assert.deepEqual([issue.loc, issue.type], [["body", "state", 0], "unknown_value"]);
  });

  it("knows the model by every name of the plain contract, jev-latest, and those of the operator", async () => {
    for (const model of [MODEL_ID, "fast", "jev-latest", "my-model", null, undefined]) {
      const { status, body } = await ask({ payload: { model, state: "x", questions: { q: NOUL } } });
      assert.deepEqual([status, body.model], [200, MODEL_ID]);
    }
    const other = await ask({ payload: { model: "jev-1.13.0", state: "x", questions: { q: NOUL } } });
    assert.deepEqual([other.status, other.body.detail.error_type], [400, "api_usage_error"]);
    const plain = { state: "x", questions: { q: NOUL }, model: "jev-latest" };
    const answer = await app.inject({
      method: "POST",
      url: "/v1/systemone",
      headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
      payload: JSON.stringify(plain),
    });
    assert.equal(answer.statusCode, 422);
  });

  it("refuses images in words", async () => {
    const [box] = await issuesOf({ q: { type: "box", instructions: "The dog" } });
    assert.match(box.msg, /images are not supported/);
    assert.deepEqual(box.loc, ["body", "questions", "q", "type"]);
    const [assets] = await issuesOf({ q: NOUL }, "x", { assets: { a: { type: "image" } } });
    assert.deepEqual(assets.loc, ["body", "assets"]);
    assert.equal((await ask({ payload: { state: "x", questions: { q: NOUL }, assets: {} } })).status, 200);
    const form = { "content-type": "multipart/form-data; boundary=x" };
    assert.equal((await ask({ payload: "--x--", headers: form })).status, 422);
  });

  const all = <T>(count: number, of: (at: number) => T) => Array.from({ length: count }, (_, at) => of(at));
  const options = (count: number, last: string | null = null) =>
    Object.fromEntries(all(count, (at) => [`o${at}`, at === count - 1 ? last : null]));
  const q = ["body", "questions", "q"];
  const refused: readonly [string, object, readonly string[], string?][] = [
    ["no question", {}, ["body", "questions"]],
    ["a choice without options", { q: { type: "choice", criteria: {} } }, [...q, "criteria"]],
    ["256 options", { q: { type: "choice", criteria: options(256) } }, [...q, "criteria"]],
    ["a score of options", { q: { type: "score", criteria: { 0: "low" } } }, [...q, "criteria"]],
    ["an unknown type", { q: { type: "boolean" } }, [...q, "type"]],
    ["nothing to ask about", { q: { type: "noul" } }, q, ""],
    ["a blank option", { q: { type: "choice", criteria: { "": null, a: null } } }, [...q, "criteria", ""]],
    [
      "too many options together",
      Object.fromEntries(all(17, (at) => [`q${at}`, { type: "score", criteria: all(250, String) }])),
      ["body", "questions"],
    ],
    [
      "an option in the second part that is too long",
      { q: { type: "choice", criteria: options(255, "word ".repeat(900)) } },
      [...q, "criteria", "o254"],
    ],
  ];
  for (const [name, questions, loc, state = "x"] of refused) {
    it(`refuses ${name} with 422`, async () => {
      const [issue] = await issuesOf(questions, state);
      assert.deepEqual(issue.loc, loc);
    });
  }
});
