import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { FastifyInstance } from "fastify";
import { createFastEngine, MODEL_ID } from "../../packages/conformance/test/fast-engine.ts";
import { createApp } from "../../src/app.ts";
import type { SystemoneBody } from "../../src/decisions/request.ts";
import { readSystemone } from "../../src/decisions/systemone.ts";
import type { EngineCore } from "../../src/inference/engine-core.ts";
import { viewerOf } from "../../src/json/views.ts";
import { questionDigest } from "../../src/tuning/question-digest.ts";
import { openTuning } from "../../src/tuning/tuning.ts";
import type { TunedQuestion } from "../../src/tuning/tuning-file.ts";
import { document } from "../contract/document.ts";
import { assertDeclared, checkOf } from "../contract/response-check.ts";
import { parseJson } from "../json/parse-json.ts";

const TEMPERATURE = 4.136820402388508;
const SIZE = 3;
const FIGURES = { accuracy: 0.5, calibration_error: 0.1, log_loss: 0.7 };
const measured = { rows: 40, folds: 5, before: FIGURES, after: FIGURES };

const INTENT = {
  type: "choice",
  instructions: "What does the customer want?",
  criteria: { refund: "Wants money back", cancel: "Wants to end a subscription", other: null },
};
const ANGRY = { type: "noul", instructions: "The customer is angry." };
const URGENCY = {
  type: "score",
  instructions: "How urgent is this?",
  criteria: ["later", "this week", "today"],
};

const viewer = viewerOf({ $ref: "#/components/schemas/SystemoneRequest" }, document);

/** As a request is read. */
async function digestOf(question: object): Promise<string> {
  const text = JSON.stringify({ state: "s", questions: { question } });
  const { ordered } = viewer(parseJson(text));
  const limits = { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 };
  const model = { id: MODEL_ID, aliases: [], showsLabels: true, limits };
  const { questions } = await readSystemone(ordered as SystemoneBody, model); // one that the schema admits
  return questionDigest(questions[0] ?? assert.fail());
}

const tuned: TunedQuestion[] = [
  {
    name: "intent",
    form: "choice",
    question: await digestOf(INTENT),
    kind: "head",
    labels: ["cancel", "other", "refund"],
    scale: [0.5, 1.5, 1],
    bias: [1, -2, 0.25],
    head: [
      [0.5, 0, 1],
      [0, -1, 0],
      [2, 0.125, -3],
    ],
    measured,
  },
  {
    name: "angry",
    form: "noul",
    question: await digestOf(ANGRY),
    kind: "scale",
    labels: ["false", "true"],
    scale: [0.75, 0.75],
    bias: [-1, 1],
    measured,
  },
];

const engines: EngineCore[] = [];
const apps: FastifyInstance[] = [];
after(async () => {
  for (const app of apps) await app.close();
  for (const engine of engines) await engine.close();
});

const silent = () => {};
const LOG = { debug: silent, info: silent, warn: silent, error: silent };

async function service({ isTuned, cacheSize = 0 }: { isTuned: boolean; cacheSize?: number }) {
  const file = { format: "decision-tuning/1" as const, model: MODEL_ID, precision: "fp32", questions: tuned };
  const tuning = openTuning([{ name: "tuning.json", file }], { id: MODEL_ID });
  const engine = await createFastEngine(cacheSize, isTuned ? { tuning, vectorSize: SIZE } : {});
  engines.push(engine);
  const app = await createApp(engine, {
    log: LOG,
    maxConnections: 100,
    headersTimeoutMs: 20_000,
    bodyMemoryMb: 64,
    explain: true,
  });
  apps.push(app);
  return app;
}
const [plain, corrected, cached] = await Promise.all([
  service({ isTuned: false }),
  service({ isTuned: true }),
  service({ isTuned: true, cacheSize: 1_000 }),
]);

// biome-ignore lint/suspicious/noExplicitAny: answers are checked against the document
type Answers = any;

async function ask(app: FastifyInstance, questions: object, state = "I was charged twice.") {
  const reply = await app.inject({ method: "POST", url: "/v1/systemone", payload: { state, questions } });
  assertDeclared("systemone", reply.statusCode, reply.headers, reply.json());
  assert.equal(reply.statusCode, 200, reply.body);
  const answers: Answers = reply.json().answers;
  return { answers, header: reply.headers["x-decision-tuning"], usage: reply.json().usage };
}

/** What the file says to do, in plain arithmetic. The vectors are those of the hash backend. */
function expected(question: TunedQuestion, raw: Readonly<Record<string, number>>): Record<string, number> {
  const mean = question.labels.reduce((sum, label) => sum + (raw[label] ?? 0), 0) / question.labels.length;
  const entries = question.labels.map((label, at) => {
    const score = raw[label] ?? 0;
    const head = (question.head?.[at] ?? []).reduce((sum, w, i) => sum + w * Math.fround(score / (1 + i)), 0);
    const own = mean + (question.scale[at] ?? 0) * (score - mean) + (question.bias[at] ?? 0);
    return [label, Math.fround(own + head)] as const;
  });
  return Object.fromEntries(entries);
}

describe("a service with a tuning", () => {
  it("corrects the questions it was made for, and leaves the others to the last bit", async () => {
    const questions = { a: INTENT, b: ANGRY, c: URGENCY };
    const [raw, own] = [await ask(plain, questions), await ask(corrected, questions)];
    const [intent, angry] = tuned;
    assert.ok(intent && angry);
    for (const [name, question] of [
      ["a", intent],
      ["b", angry],
    ] as const) {
      const wanted = expected(question, raw.answers[name].scores);
      for (const [label, score] of Object.entries(wanted))
        assert.ok(Math.abs(own.answers[name].scores[label] - score) <= 1e-5, `${name}, ${label}`);
      assert.deepEqual(Object.keys(own.answers[name].scores), Object.keys(raw.answers[name].scores));
    }
    assert.deepEqual(own.answers.c, raw.answers.c);
    assert.equal(raw.header, undefined);
  });

  it("keeps what answers promise: softmax at the temperature, best label, confidence", async () => {
    const { answers } = await ask(corrected, { intent: INTENT, angry: ANGRY });
    for (const { scores, probabilities, confidence, choice, noul } of Object.values<Answers>(answers)) {
      const weights = Object.entries<number>(scores).map(
        ([label, score]) => [label, Math.exp(score / TEMPERATURE)] as const,
      );
      const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [label, weight] of weights)
        assert.ok(Math.abs(probabilities[label] - weight / total) < 1e-9);
      assert.equal(confidence, Math.max(...Object.values<number>(probabilities)));
      if (choice !== undefined) assert.equal(probabilities[choice], confidence);
      else assert.equal(noul, probabilities.true);
    }
  });

  it("gives the same bits alone, in company, and whatever the order of the labels", async () => {
    const alone = await ask(corrected, { intent: INTENT });
    const company = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        ask(
          corrected,
          { urgency: URGENCY, mine: INTENT, angry: ANGRY },
          at % 2 ? undefined : `Message ${at}`,
        ),
      ),
    );
    assert.deepEqual(company[1]?.answers.mine, alone.answers.intent);
    const { refund, cancel, other } = INTENT.criteria;
    const turned = await ask(corrected, { intent: { ...INTENT, criteria: { other, cancel, refund } } });
    assert.deepEqual(turned.answers.intent.scores, alone.answers.intent.scores);
  });

  it("caches raw scores with their vectors: an answer from the cache is the same", async () => {
    const first = await ask(cached, { intent: INTENT, angry: ANGRY });
    const again = await ask(cached, { intent: INTENT, angry: ANGRY });
    assert.deepEqual([first.usage.cached_pairs, again.usage.cached_pairs], [0, 5]);
    assert.deepEqual(again.answers, first.answers);
    assert.deepEqual(again.answers, (await ask(corrected, { intent: INTENT, angry: ANGRY })).answers);
    // the same pairs under another form are no longer the tuned question, and get their raw scores from the cache
    const criteria = { false: "false: No. This is false: The customer is angry.", true: null };
    const asChoice = { type: "choice", instructions: ANGRY.instructions, criteria };
    assert.equal((await ask(cached, { asChoice })).header, undefined);
  });

  it("corrects the answers of an explanation, with and without each part of the state", async () => {
    const state = "I was charged twice. Now!";
    const questions = { intent: INTENT, urgency: URGENCY };
    const reply = await corrected.inject({
      method: "POST",
      url: "/v1/explain",
      payload: { state, questions },
    });
    checkOf("explain")("explain", reply.statusCode, reply.headers, reply.json());
    const whole = await ask(corrected, questions, state);
    const without = await ask(corrected, questions, "Now!");
    const { answers, influence }: Answers = reply.json();
    assert.deepEqual(answers, whole.answers);
    assert.equal(reply.headers["x-decision-tuning"], whole.header);
    assert.deepEqual(influence[0].questions.intent.probabilities, without.answers.intent.probabilities);
  });

  it("names the corrections of an answer in a header, and lists them in /health and /v1/models", async () => {
    const health = await corrected.inject("/health");
    assertDeclared("getHealth", health.statusCode, health.headers, health.json());
    const list: Answers = health.json().tuning;
    assert.deepEqual(
      list.map(({ name, type, kind, question }: Answers) => [name, type, kind, question]),
      tuned.map(({ name, form, kind, question }) => [name, form, kind, question]),
    );
    const models = await corrected.inject("/v1/models");
    assertDeclared("listModels", models.statusCode, models.headers, models.json());
    assert.deepEqual(models.json().models[0].tuning, list);
    const [intent, angry] = list.map(({ id }: Answers) => id);
    assert.equal((await ask(corrected, { x: ANGRY, y: URGENCY, z: INTENT })).header, `${angry}, ${intent}`);
    assert.equal((await ask(corrected, { x: ANGRY, again: ANGRY })).header, angry);
    assert.equal((await ask(corrected, { y: URGENCY })).header, undefined);
    for (const url of ["/health", "/v1/models"])
      assert.ok(!(await plain.inject(url)).body.includes("tuning"));
  });

  it("corrects the same questions of the TypeSafe dialect, also where a request is scored in parts", async () => {
    const check = checkOf("typesafe");
    const labels = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`label ${at}`, null]));
    const many = Array.from({ length: 21 }, (_, at) => {
      return [
        `other ${at}`,
        { type: "choice", instructions: `Which one is number ${at}?`, criteria: labels },
      ];
    });
    // a part has 256 pairs: 252 of the others, 2 of a yes/no question, and 2 of the 3 of the intent
    const questions = Object.fromEntries([
      ...many,
      ["y", { type: "noul", instructions: "Is it?" }],
      ["intent", INTENT],
      ["angry", ANGRY],
    ]);
    const state = "I was charged twice.";
    const reply = await corrected.inject({
      method: "POST",
      url: "/typesafe/v1/systemone",
      payload: { model: "jev-latest", state, questions },
    });
    check("typesafeSystemone", reply.statusCode, reply.headers, reply.json());
    const { answers } = await ask(corrected, { intent: INTENT, angry: ANGRY }, state);
    const round = (value: number) => Math.round(value * 100) / 100;
    const own: Answers = reply.json().answers;
    assert.equal(own.angry.noul, round(answers.angry.noul));
    for (const [label, probability] of Object.entries<number>(answers.intent.probabilities))
      assert.equal(own.intent.probabilities[label], round(probability));
    assert.match(String(reply.headers["x-decision-tuning"]), /^[0-9a-f]{16}, [0-9a-f]{16}$/);
  });
});
