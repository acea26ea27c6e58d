import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createFastEngine, MODEL_ID } from "../../packages/conformance/test/fast-engine.ts";
import { createContractFor } from "../../src/app.ts";
import { openDecider } from "../../src/library/deciders/local-decider.ts";
import {
  connectDecider,
  dryRun,
  type LocalDecider,
  type RankRequest,
  ServiceError,
} from "../../src/library/index.ts";
import { completeOptions } from "../../src/options/resolve.ts";
import { checkOf } from "../contract/response-check.ts";

const QUESTIONS = {
  intent: { type: "choice", instructions: "What is wanted?", criteria: { "10": "Money", "2": "To leave" } },
  angry: { type: "noul", instructions: "The customer is angry." },
} as const;
const STATE = { order: 48213, note: "Charged twice! I want my money back." };

let decider: LocalDecider;
before(async () => {
  const engine = await createFastEngine();
  decider = openDecider({ engine, contract: await createContractFor(engine), options: completeOptions({}) });
});
after(() => decider.close());

describe("decider.explain", () => {
  it("answers as decide does, and tells how each part moved it by asking without the part", async () => {
    const explained = await decider.explain({ state: STATE, questions: QUESTIONS });
    const whole = await decider.decide({ state: STATE, questions: QUESTIONS });
    assert.deepEqual(explained.answers, whole.answers);
    const without = [
      { note: STATE.note },
      { order: 48213, note: "I want my money back." },
      { order: 48213, note: "Charged twice!" },
    ];
    assert.deepEqual(
      explained.influence.map(({ unit, text }) => [unit, text]),
      [
        ["field", "order: 48213"],
        ["sentence", "Charged twice!"],
        ["sentence", "I want my money back."],
      ],
    );
    for (const [at, { questions }] of explained.influence.entries()) {
      const { answers } = await decider.decide({ state: without[at] ?? "", questions: QUESTIONS });
      const { shift, answer, probabilities } = questions.intent;
      assert.deepEqual(probabilities, answers.intent.probabilities);
      assert.equal(answer, answers.intent.choice);
      const label = whole.answers.intent.choice;
      assert.equal(shift, whole.answers.intent.probabilities[label] - answers.intent.probabilities[label]);
      assert.equal(questions.angry.answer, answers.angry.noul >= 0.5 ? "true" : "false");
    }
  });

  it("shows each token with what it stands for, and what of it is unknown", async () => {
    const state = "Charged twíce \u{13000}";
    const { questions, ...told } = await decider.explain({ state, questions: QUESTIONS }, { dryRun: true });
    assert.equal(told.state.text, state);
    const [first, ...rest] = told.state.tokens;
    assert.deepEqual([first?.text, first?.source, rest.at(-1)?.text], ["[CLS]", undefined, "[SEP]"]);
    assert.equal(
      rest
        .slice(0, -1)
        .map(({ source }) => source)
        .join(""),
      state.replaceAll(" ", ""),
    );
    assert.deepEqual(
      told.state.tokens.filter((token) => token.is_unknown).map(({ text, source }) => [text, source]),
      [["[UNK]", "\u{13000}"]],
    );
    const { instructions, state_question_tokens: both, candidates } = questions.intent;
    assert.equal(both, told.state.tokens.length + instructions.tokens.length);
    assert.deepEqual(Object.keys(candidates), ["2", "10"]); // as objects have them
    assert.equal(candidates["10"]?.text, "10: Money");
    assert.equal(candidates["10"]?.pair_tokens, both + (candidates["10"]?.tokens.length ?? 0));
    assert.equal(told.model, MODEL_ID);
    assert.ok(!("answers" in told) && !("influence" in told));
  });

  it("says which texts were in the cache before it asked", async () => {
    const state = `Never seen ${process.hrtime.bigint()}`;
    const kept = async () => {
      const { state: read, questions } = await decider.explain(
        { state, questions: QUESTIONS },
        { dryRun: true },
      );
      return [read.was_kept, questions.angry.instructions.was_kept];
    };
    assert.deepEqual(
      [await kept(), await kept()],
      [
        [false, true],
        [true, true],
      ],
    );
  });

  it("refuses what decide refuses, with the same issues", async () => {
    for (const request of [
      { state: "x", questions: {} },
      { state: "word ".repeat(3000), questions: QUESTIONS },
      { state: "x", questions: QUESTIONS, model: "another" },
    ]) {
      const settled = await Promise.allSettled([
        decider.decide(request),
        decider.explain(request),
        decider.explain(request, { dryRun: true }),
      ]);
      const issues = settled.map((call) =>
        call.status === "rejected" && call.reason instanceof ServiceError ? call.reason.issues : [],
      );
      assert.ok((issues[0]?.length ?? 0) > 0);
      assert.deepEqual(issues[1], issues[0]);
      assert.deepEqual(issues[2], issues[0]);
    }
  });
});

const RANKING = {
  state: STATE,
  question: "Which reply helps?",
  candidates: { "10": "We send the money back.", "2": "Thank you for your note." },
} as const;

describe("decider.explain of a ranking", () => {
  it("ranks as rank does, and tells how each part moved the first candidate", async () => {
    const explained = await decider.explain(RANKING);
    const whole = await decider.rank(RANKING);
    assert.deepEqual(explained.ranked, whole.ranked);
    const without = [
      { note: STATE.note },
      { order: 48213, note: "I want my money back." },
      { order: 48213, note: "Charged twice!" },
    ];
    assert.equal(explained.influence.length, without.length);
    for (const [at, { question }] of explained.influence.entries()) {
      const { ranked } = await decider.rank({ ...RANKING, state: without[at] ?? "" });
      const shares = Object.fromEntries(ranked.map(({ candidate, probability }) => [candidate, probability]));
      const [first] = whole.ranked;
      assert.deepEqual(question.probabilities, shares);
      assert.equal(question.answer, ranked[0]?.candidate);
      assert.equal(question.shift, (first?.probability ?? 0) - (shares[first?.candidate ?? ""] ?? 0));
    }
  });

  it("refuses what rank refuses, with the same issues", async () => {
    const wrong: readonly RankRequest[] = [
      { state: "x", candidates: ["only one"] },
      { state: "x", candidates: { a: "same", b: "same " } },
      { state: "", candidates: ["one", "two"] },
    ];
    for (const request of wrong) {
      const settled = await Promise.allSettled([decider.rank(request), decider.explain(request)]);
      const issues = settled.map((call) =>
        call.status === "rejected" && call.reason instanceof ServiceError ? call.reason.issues : [],
      );
      assert.ok((issues[0]?.length ?? 0) > 0);
      assert.deepEqual(issues[1], issues[0]);
    }
  });
});

describe("POST /v1/explain", () => {
  const asked = {
    method: "POST",
    url: "/v1/explain",
    payload: { state: "x", questions: QUESTIONS, dry_run: true },
  } as const;

  it("is there only for those who ask for it", async () => {
    const without = await decider.createApp();
    assert.equal((await without.inject(asked)).statusCode, 404);
    await without.close();
  });

  it("has the keys, the errors and the headers of the contract", async () => {
    const app = await decider.createApp({ explain: true, apiKey: "k" });
    const check = checkOf("explain");
    const locked = await app.inject(asked);
    check("explain", 401, locked.headers, locked.json());
    assert.deepEqual([locked.statusCode, locked.headers["x-decision-error"]], [401, "KEY_MISSING"]);
    const open = { ...asked, headers: { authorization: "Bearer k" } };
    const explained = await app.inject(open);
    check("explain", explained.statusCode, explained.headers, explained.json());
    assert.equal(explained.statusCode, 200);
    const whole = await app.inject({ ...open, payload: { state: STATE, questions: QUESTIONS } });
    check("explain", whole.statusCode, whole.headers, whole.json());
    assert.equal(whole.json().influence.length, 3);
    const text =
      '{"state":"x","questions":{"q":{"type":"choice","instructions":"?","criteria":{"10":"a","2":"b"}}},"dry_run":true}';
    const json = { ...open.headers, "content-type": "application/json" };
    const ordered = await app.inject({ ...open, headers: json, payload: text });
    assert.match(ordered.body, /"candidates":\{"10":.*"2":/);
    const refused = await app.inject({
      ...open,
      payload: { state: "x", questions: QUESTIONS, dryRun: true },
    });
    assert.deepEqual([refused.statusCode, refused.json().detail[0].type], [422, "unknown_field"]);
    await app.close();
  });

  it("explains rankings, under all names of their members", async () => {
    const app = await decider.createApp({ explain: true });
    const check = checkOf("explain");
    const ask = (payload: object) => app.inject({ ...asked, payload });
    const whole = await ask(RANKING);
    check("explain", whole.statusCode, whole.headers, whole.json());
    const { state, question, candidates } = RANKING;
    const renamed = await ask({ context: state, question, answers: candidates, questions: undefined });
    assert.deepEqual(renamed.json().influence, whole.json().influence);
    const dry = await ask({ ...RANKING, dry_run: true });
    check("explain", dry.statusCode, dry.headers, dry.json());
    assert.equal(dry.json().ranked, undefined);
    await app.close();
  });

  it("takes either questions or candidates", async () => {
    const app = await decider.createApp({ explain: true });
    const check = checkOf("explain");
    const { candidates } = RANKING;
    for (const [payload, name, type] of [
      [{ state: "x" }, "questions", "missing"],
      [{ state: "x", question: "?" }, "questions", "missing"],
      [{ state: "x", questions: QUESTIONS, candidates }, "candidates", "unknown_field"],
      [{ state: "x", questions: QUESTIONS, question: "?" }, "question", "unknown_field"],
    ] as const) {
      const refused = await app.inject({ ...asked, payload });
      check("explain", refused.statusCode, refused.headers, refused.json());
      const [issue] = refused.json().detail;
      assert.deepEqual([refused.statusCode, issue.loc, issue.type], [422, ["body", name], type]);
    }
    const nulls = await app.inject({
      ...asked,
      payload: { ...asked.payload, candidates: null, question: null },
    });
    assert.equal(nulls.statusCode, 200, "generated Java clients send every optional member");
    await app.close();
  });

  it("is what a decider of the service asks", async () => {
    const app = await decider.createApp({ explain: true });
    await using remote = connectDecider(await app.listen({ host: "127.0.0.1", port: 0 }));
    const [there, here] = await Promise.all([
      remote.explain({ state: STATE, questions: QUESTIONS }),
      decider.explain({ state: STATE, questions: QUESTIONS }),
    ]);
    assert.deepEqual(there.influence, here.influence);
    await app.close();
  });
});

it("a dry run without a model tells what one with the model tells", async () => {
  const request = { state: STATE, questions: QUESTIONS, dry_run: true };
  const alone = JSON.parse(await dryRun(JSON.stringify(request)));
  const { state, questions } = await decider.explain(
    { state: STATE, questions: QUESTIONS },
    { dryRun: true },
  );
  const ids = ({ tokens }: { tokens: readonly { id: number }[] }) => tokens.map(({ id }) => id);
  assert.deepEqual(ids(alone.state), ids(state));
  assert.deepEqual(ids(alone.questions.angry.instructions), ids(questions.angry.instructions));
  await assert.rejects(dryRun(JSON.stringify({ ...request, questions: {} })), ServiceError);
});
