/**
 * Asks running services through openapi-fetch, typed by what openapi-typescript makes of their contract: every
 * operation, every type of question and answer, every error that can be provoked. `clients/run.mjs` generates, compiles
 * and runs this.
 *
 *     smoke.mts <URL of a service without a key> <of one with a key> <of one that is full> <the key>
 */
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/schema.ts";

type Schemas = components["schemas"];
type Scores = Record<string, number>;

const TOLERANCE = 1e-9;
/** JavaScript writes this as 1152921504606847000, though it is 1152921504606846976. */
const PAST_SAFE_INTEGERS = 2 ** 60;
const PAST_BODY_LIMIT = 2_097_153;
const KETTLE = { state: "A kettle.", candidates: ["kitchen", "garden"] };

const connect = (baseUrl: string, headers: Record<string, string> = {}) =>
  createClient<paths>({ baseUrl, headers });
type Client = ReturnType<typeof connect>;

let passed = 0;

function check(statement: string, holds: boolean): void {
  if (!holds) throw new Error(`Not so: ${statement}`);
  passed += 1;
}

const near = (left: number, right: number) => Math.abs(left - right) <= TOLERANCE;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const sameNames = (left: object, right: object) =>
  JSON.stringify(Object.keys(left).sort()) === JSON.stringify(Object.keys(right).sort());

function softmax(scores: Scores, temperature: number): Scores {
  const largest = Math.max(...Object.values(scores));
  const weights = Object.entries(scores).map(
    ([label, score]) => [label, Math.exp((score - largest) / temperature)] as const,
  );
  const total = sum(weights.map(([, weight]) => weight));
  return Object.fromEntries(weights.map(([label, weight]) => [label, weight / total]));
}

/** The body of a 200. */
function bodyOf<Body>({ data, response }: { data?: Body; response: Response }): Body {
  if (data === undefined) throw new Error(`${response.url} answered ${response.status}`);
  return data;
}

function checkDistribution(name: string, probabilities: Scores, scores: Scores, temperature: number): void {
  const expected = softmax(scores, temperature);
  check(`${name}: probabilities sum to 1`, near(sum(Object.values(probabilities)), 1));
  check(`${name}: scores and probabilities name the same`, sameNames(scores, probabilities));
  check(
    `${name}: probabilities are the softmax of the scores`,
    Object.entries(probabilities).every(([label, value]) => near(value, expected[label] ?? Number.NaN)),
  );
}

function checkAnswer(name: string, answer: Schemas["Answer"], temperature: number): void {
  const { confidence, probabilities, scores } = answer;
  checkDistribution(name, probabilities, scores, temperature);
  check(`${name}: confidence is the largest`, confidence === Math.max(...Object.values(probabilities)));
  check(`${name}: the answer follows from them`, followsFrom(answer));
}

/** Whether the answer itself is what its scores and probabilities say. Does not compile if a type is left out. */
function followsFrom(answer: Schemas["Answer"]): boolean {
  const { probabilities, scores } = answer;
  switch (answer.type) {
    case "choice":
      return scores[answer.choice] === Math.max(...Object.values(scores));
    case "noul":
      return answer.noul === probabilities.true;
    case "score":
      return near(answer.score, sum(Object.entries(probabilities).map(([level, p]) => Number(level) * p)));
  }
}

async function checkQuestionTypes(client: Client): Promise<void> {
  const criteria = { refund: "Wants money back", cancel: null, technical: { fault: "Something is broken" } };
  const questions = {
    intent: { type: "choice", instructions: "What does the customer want?", criteria },
    angry: { type: "noul", instructions: "The customer is angry.", criteria: null },
    urgency: { type: "score", instructions: "How urgent is this?", criteria: ["low", "medium", "high"] },
    "": { type: "noul", instructions: null, criteria: { no: "Paid once", yes: "Paid twice" } },
  } satisfies Schemas["SystemoneRequest"]["questions"];
  const state = "I was charged twice for one order.";
  const decisions = bodyOf(await client.POST("/v1/systemone", { body: { state, questions } }));

  const { answers, temperature, usage } = decisions;
  check("every question has an answer", sameNames(questions, answers));
  for (const [name, { type }] of Object.entries(questions)) {
    const answer = answers[name];
    if (answer?.type !== type) throw new Error(`Not so: question "${name}" has an answer of type ${type}`);
    checkAnswer(`answer "${name}"`, answer, temperature);
  }
  check("a choice has its labels", sameNames(answers.intent?.scores ?? {}, criteria));
  check("a noul has false and true", sameNames(answers[""]?.scores ?? {}, { false: 0, true: 0 }));
  check("a score has its levels", sameNames(answers.urgency?.scores ?? {}, ["", "", ""]));
  check("tokens are counted", usage.input_tokens > 0 && usage.total_tokens === usage.input_tokens);
}

async function checkRanking(client: Client): Promise<void> {
  const labelled = { manual: "Read the manual.", replace: "We will send a new kettle." };
  for (const candidates of [labelled, Object.values(labelled)]) {
    const form = Array.isArray(candidates) ? "list" : "map";
    const body = { state: "The kettle no longer heats.", question: "Which reply helps?", candidates };
    const { ranked, temperature } = bodyOf(await client.POST("/v1/rank", { body }));
    const texts = Object.fromEntries(ranked.map(({ candidate, text }) => [candidate, text]));
    const scores = Object.fromEntries(ranked.map(({ candidate, score }) => [candidate, score]));
    const probabilities = Object.fromEntries(
      ranked.map(({ candidate, probability }) => [candidate, probability]),
    );
    checkDistribution(`ranked ${form}`, probabilities, scores, temperature);
    check(
      `ranked ${form}: each candidate keeps its text`,
      sameNames(candidates, texts) &&
        Object.entries(candidates).every(([label, text]) => texts[label] === text),
    );
    check(
      `ranked ${form}: best first`,
      ranked.every(
        ({ rank, score }, place) =>
          rank === place + 1 && score <= (ranked[place - 1]?.score ?? Number.MAX_VALUE),
      ),
    );
  }
}

/** States of any JSON type. Two states that render alike give the same scores. */
async function checkStates(client: Client): Promise<void> {
  const criteria = { due: "Money is owed", paid: "Nothing is owed" };
  const scoresOf = async (state: unknown) => {
    const questions = { q: { type: "choice", instructions: "Is it paid?", criteria } as const };
    const { answers } = bodyOf(await client.POST("/v1/systemone", { body: { state, questions } }));
    return JSON.stringify(answers.q?.scores);
  };

  const nested = await scoresOf({ order: { number: PAST_SAFE_INTEGERS, paid: [true, null] } });
  const rendered = (digits: string) => `order:\n  number: ${digits}\n  paid:\n    - true\n    -`;
  const [written, exact] = ["1152921504606847000", "1152921504606846976"];
  check("a nested state arrives with the digits sent", nested === (await scoresOf(rendered(written))));
  check("other digits are another state", nested !== (await scoresOf(rendered(exact))));
  check("a null state is an empty one", (await scoresOf(null)) === (await scoresOf("")));
}

async function checkService(client: Client): Promise<void> {
  const health = bodyOf(await client.GET("/health"));
  const ready = bodyOf(await client.GET("/ready"));
  const { models } = bodyOf(await client.GET("/v1/models"));
  const document = bodyOf(await client.GET("/openapi.json"));
  const live = bodyOf(await client.GET("/livez"));
  const metrics = bodyOf(await client.GET("/metrics", { parseAs: "text" }));
  check("it is ready", health.status === "ready" && ready.status === "ready");
  check("it is live", live.status === "live");
  check("it tells its metrics", metrics.includes("decision_requests_total"));
  check("it serves one model", models.length === 1 && models[0]?.id === health.model);
  check("the document is one for generators", document.openapi === "3.0.3");
  check("this client's has all types", bodyOf(await client.GET("/openapi.typed.json")).openapi === "3.0.3");
  check("its limits are told", health.limits.max_body_bytes === PAST_BODY_LIMIT - 1);
  for (const path of ["/docs", "/redoc"] as const) {
    const page = bodyOf(await client.GET(path, { parseAs: "text" }));
    check("the documentation is a page", page.includes("<html"));
  }
  for (const model of [health.model, ...health.aliases]) {
    const body = { ...KETTLE, question: null, model };
    check(
      `${model} is a name of the model`,
      bodyOf(await client.POST("/v1/rank", { body })).model === health.model,
    );
  }
}

/** With every status but 422 an error has a sentence. */
const isSentence = (error: Schemas["ErrorBody"] | undefined) =>
  typeof error?.detail === "string" && error.detail !== "";

async function checkRefusals(url: string, fullUrl: string): Promise<void> {
  const client = connect(url);
  await checkInvalid(client);

  const lost = await connect(`${url}/nowhere`).POST("/v1/rank", { body: KETTLE });
  check("404: no such path", lost.response.status === 404 && isSentence(lost.error));

  const misusing = connect(url);
  misusing.use({ onRequest: ({ request }) => new Request(request, { method: "DELETE" }) });
  const misused = await misusing.GET("/v1/models");
  check("405: not this method", misused.response.status === 405 && isSentence(misused.error));
  check("405: the methods are told", misused.response.headers.get("allow") === "GET, HEAD");

  const large = { ...KETTLE, state: "a".repeat(PAST_BODY_LIMIT) };
  const refused = await client.POST("/v1/rank", { body: large });
  check("413: too large", refused.response.status === 413 && isSentence(refused.error));
  const next = await client.POST("/v1/rank", { body: KETTLE });
  check("413: the next request is answered", next.response.status === 200);

  const full = await connect(fullUrl).POST("/v1/rank", { body: KETTLE });
  check("503: full", full.response.status === 503 && isSentence(full.error));
  check("503: when to try again", Number(full.response.headers.get("retry-after")) > 0);
}

async function checkInvalid(client: Client): Promise<void> {
  const { error, response } = await client.POST("/v1/systemone", {
    body: {
      state: "A kettle.",
      questions: { place: { type: "choice", instructions: "Where?", criteria: { kitchen: null } } },
    },
  });
  check("422: one label is too few", response.status === 422);
  const detail = error?.detail ?? [];
  const [issue] = typeof detail === "string" ? [] : detail;
  check("422: the issue has a type", issue?.type === "too_few" && issue.msg !== "");
  check("422: the issue has a place", issue?.loc.join("/") === "body/questions/place/criteria");
}

async function checkKey(url: string, key: string): Promise<void> {
  const body = KETTLE;
  const wrong = { authorization: `Bearer not-${key}` };
  for (const [name, headers] of Object.entries({ "no key": {}, "a wrong key": wrong })) {
    const { error, response } = await connect(url, headers).POST("/v1/rank", { body });
    check(`401: ${name}`, response.status === 401 && isSentence(error));
  }
  const { response } = await connect(url, { authorization: `Bearer ${key}` }).POST("/v1/rank", { body });
  check("the key is accepted", response.status === 200);
  check("health needs no key", (await connect(url).GET("/health")).response.status === 200);
}

const [openUrl, keyedUrl, fullUrl, key] = process.argv.slice(2);
if (!openUrl || !keyedUrl || !fullUrl || !key) throw new Error("Expected three URLs and a key.");
const client = connect(openUrl);
await checkService(client);
await checkQuestionTypes(client);
await checkRanking(client);
await checkStates(client);
await checkRefusals(openUrl, fullUrl);
await checkKey(keyedUrl, key);
console.log(`typescript: ${passed} checks passed`);
