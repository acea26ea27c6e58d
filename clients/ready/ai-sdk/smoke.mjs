import assert from "node:assert/strict";
import { assertClose, check, fullUrl, key, load, plain, report, slowUrl, url } from "../ready.mjs";

const { createTypeSafeAi } = await load("@ai-sdk/typesafe-ai");
const { experimental_evaluate: evaluate } = await load("ai");

const at = (baseURL, apiKey = key) => createTypeSafeAi({ apiKey, baseURL }).evaluationModel("jev-latest");
const model = at(url);
const state = "I was charged twice for one order. Give me my money back today!";
const criteria = { refund: "Wants money back", cancel: "Wants to end a subscription" };
const levels = ["can wait", "this week", "today"];
const one = { q: { type: "boolean", instructions: "Is it?" } };
const ask = (options) => evaluate({ model, state, questions: one, maxRetries: 0, ...options });

for (const [name, given] of [
  ["a text", state],
  ["an object", { mail: state, paid: true }],
]) {
  await check(`${name} as state gives the plain contract's numbers`, async () => {
    const { answers } = await ask({
      state: given,
      questions: {
        intent: { type: "choice", instructions: "What does the customer want?", criteria },
        angry: { type: "boolean", instructions: "The customer is angry." },
        urgency: { type: "score", instructions: "How urgent is this?", criteria: levels },
      },
    });
    const expected = await plain("/v1/systemone", {
      state: given,
      questions: {
        intent: { type: "choice", instructions: "What does the customer want?", criteria },
        angry: { type: "noul", instructions: "The customer is angry." },
        urgency: { type: "score", instructions: "How urgent is this?", criteria: levels },
      },
    });
    for (const label of Object.keys(criteria)) {
      assertClose(answers.intent.probabilities[label], expected.answers.intent.probabilities[label]);
    }
    assertClose(answers.angry.probability, expected.answers.angry.noul);
    assertClose(answers.urgency.score, expected.answers.urgency.score);
  });
}

await check("options for providers do not change what is read", async () => {
  const part = { type: "text", text: state };
  const { answers, usage } = await ask({ state: [part] });
  for (const providerOptions of [{ gateway: { tag: "a" } }, {}, null]) {
    const other = await ask({ state: [{ ...part, providerOptions }] });
    assert.deepEqual([other.answers, other.usage], [answers, usage]);
  }
});

await check("undescribed options, no instructions, 255 options", async () => {
  const many = Object.fromEntries(Array.from({ length: 255 }, (_, at) => [`option ${at}`, null]));
  const { answers } = await ask({ questions: { many: { type: "choice", criteria: many } } });
  assert.equal(Object.keys(answers.many.probabilities).length, 255);
});

const refusal = async (options, pattern) => {
  await assert.rejects(ask(options), (error) => {
    const cause = error.lastError ?? error;
    assert.match(`${cause.statusCode} ${cause.message} ${cause.responseBody}`, pattern);
    return true;
  });
};

await check("an error says what is wrong", () =>
  refusal(
    { state: "", questions: { q: { type: "choice", criteria: { a: null, b: null } } } },
    /^422 .*blank/s,
  ),
);
await check("a wrong key is refused, and the client goes on working", async () => {
  await refusal({ model: at(url, "wrong") }, /^401 .*Expected a valid key/s);
  await ask({});
});
await check("a full queue is told", () => refusal({ model: at(fullUrl) }, /^503 /));
await check("the deadline is told", () => refusal({ model: at(slowUrl) }, /^504 /));
await check("the client's own timeout works", async () => {
  await assert.rejects(ask({ model: at(slowUrl), abortSignal: AbortSignal.timeout(100) }), /timeout|abort/i);
});

report();
