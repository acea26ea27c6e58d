import assert from "node:assert/strict";
import { assertClose, check, fullUrl, key, load, plain, report, slowUrl, url } from "../ready.mjs";

const sdk = await load("@typesafe-ai/sdk");
const { TypeSafeClient, choice, noul, score } = sdk;
const client = new TypeSafeClient({ apiKey: key, baseURL: url, maxRetries: 0 });
const at = (baseUrl, options) =>
  new TypeSafeClient({ apiKey: key, baseURL: baseUrl, maxRetries: 0, ...options });

const state = "I was charged twice for one order. Give me my money back today!";
const criteria = { refund: "Wants money back", cancel: "Wants to end a subscription" };
const levels = ["can wait", "this week", "today"];

await check("the models are listed", async () => {
  const models = await client.models.list();
  assert.ok(models.some(({ name }) => name === "jev-latest"));
});

await check("each type of question gives the plain contract's numbers", async () => {
  const questions = {
    intent: choice("What does the customer want?", criteria),
    angry: noul("The customer is angry."),
    urgency: score("How urgent is this?", levels),
  };
  const { answers } = await client.systemOne({ state, questions });
  const expected = await plain("/v1/systemone", {
    state,
    questions: {
      intent: { type: "choice", instructions: "What does the customer want?", criteria },
      angry: { type: "noul", instructions: "The customer is angry." },
      urgency: { type: "score", instructions: "How urgent is this?", criteria: levels },
    },
  });
  assert.equal(answers.intent.choice, expected.answers.intent.choice);
  for (const label of Object.keys(criteria)) {
    assertClose(answers.intent.probabilities[label], expected.answers.intent.probabilities[label]);
  }
  assertClose(answers.intent.confidence, 2 * expected.answers.intent.confidence - 1);
  assertClose(answers.angry.noul, expected.answers.angry.noul);
  assertClose(answers.urgency.score, expected.answers.urgency.score);
  assert.deepEqual(answers.urgency.legend, { 0: "can wait", 1: "this week", 2: "today" });
});

await check("undescribed options, no instructions, 255 options and 100 questions", async () => {
  const many = Object.fromEntries(Array.from({ length: 255 }, (_, at) => [`option ${at}`, null]));
  const questions = { many: choice("Which?", many), open: noul(undefined, { true: "It is about money." }) };
  for (let at = 0; at < 100; at += 1) questions[`q${at}`] = noul(`Is it ${at}?`);
  const { answers } = await client.systemOne({ state: { text: state }, questions });
  assert.equal(Object.keys(answers).length, 102);
  assert.equal(Object.keys(answers.many.probabilities).length, 255);
});

await check("the request's id is there", async () => {
  const { requestId } = await client.systemOne({ state, questions: { q: noul("Is it?") } }).withResponse();
  assert.match(requestId, /./);
});

await check("an error says what is wrong", async () => {
  const questions = { q: { type: "choice", instructions: "Which?", criteria: {} } };
  await assert.rejects(client.systemOne({ state, questions }), (error) => {
    assert.ok(error instanceof sdk.UnprocessableEntityError, String(error));
    assert.match(error.message, /questions\.q\.criteria/);
    return true;
  });
});

await check("another model is refused", async () => {
  const asked = client.systemOne({ state, model: "jev-0.1", questions: { q: noul("Is it?") } });
  await assert.rejects(asked, (error) => error instanceof sdk.BadRequestError);
});

await check("a wrong key is refused, and the client goes on working", async () => {
  const asked = at(url, { apiKey: "wrong" }).systemOne({ state, questions: { q: noul("Is it?") } });
  await assert.rejects(asked, (error) => error instanceof sdk.AuthenticationError);
  await client.systemOne({ state, questions: { q: noul("Is it?") } });
});

await check("a full queue is told as an error of the server", async () => {
  const asked = at(fullUrl).systemOne({ state, questions: { q: noul("Is it?") } });
  await assert.rejects(asked, (error) => error instanceof sdk.InternalServerError && error.status === 503);
});

await check("the deadline is told, and the client's own timeout works", async () => {
  const asked = () => at(slowUrl).systemOne({ state, questions: { q: noul("Is it?") } });
  await assert.rejects(asked(), (error) => error.status === 504);
  const hasty = at(slowUrl, { timeout: 100 }).systemOne({ state, questions: { q: noul("Is it?") } });
  await assert.rejects(hasty, (error) => error instanceof sdk.APITimeoutError);
});

report();
