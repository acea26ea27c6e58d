import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  answerOf,
  type Body,
  type Client,
  close,
  NOUL,
  namesIn,
  SMALL,
  SMALL_RANK,
  TEMPERATURE,
} from "./service.ts";

const CHOICE = {
  type: "choice",
  instructions: "What does the customer want?",
  criteria: { refund: "Wants money back", cancel: "Wants to end it", fault: null },
};
const SCORE = { type: "score", instructions: "How urgent?", criteria: ["can wait", "this week", "today"] };

function softmax(scores: readonly number[]): number[] {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp((score - largest) / TEMPERATURE));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

function assertFrame(body: Body, members: readonly string[]): void {
  assert.deepEqual(Object.keys(body).sort(), [...members].sort());
  assert.equal(body.temperature, TEMPERATURE);
  assert.equal(body.probabilities_source, "softmax_ranking_scores_external_temperature");
  assert.match(body.model, /^[^/@]+\/[^/@]+@[0-9a-f]{40}$/);
  assert.ok(body.latency_ms >= 0);
  assert.equal(body.usage.output_tokens, 0);
  assert.equal(body.usage.total_tokens, body.usage.input_tokens);
  assert.ok(Number.isInteger(body.usage.input_tokens) && Number.isInteger(body.usage.cached_pairs));
}

/**
 * @param start starts the service that is asked
 * @param short the short name of its model
 * @param aliases those that the operator has given
 */
export function testAnswers(
  start: () => Promise<Client>,
  { short, aliases }: { readonly short: string; readonly aliases: readonly string[] },
): void {
  let service: Client;
  before(async () => {
    service = await start();
  });
  after(() => service.stop());

  test("each type of answer has its members and its arithmetic", async () => {
    const body = await service.decide({
      state: "I was charged twice. Money back today!",
      questions: { c: CHOICE, n: NOUL, s: SCORE },
    });
    assertFrame(body, ["answers", "usage", "model", "temperature", "probabilities_source", "latency_ms"]);
    assert.ok(body.usage.input_tokens > 0);
    assert.equal(body.usage.cached_pairs, 0);
    assert.deepEqual(Object.keys(body.answers), ["c", "n", "s"]);
    for (const [name, outcome] of [
      ["c", "choice"],
      ["n", "noul"],
      ["s", "score"],
    ] as const) {
      const answer = answerOf(body, name);
      assert.deepEqual(
        Object.keys(answer).sort(),
        ["type", outcome, "probabilities", "confidence", "scores"].sort(),
      );
      assert.equal(answer.type, outcome);
      const labels = Object.keys(answer.scores);
      assert.deepEqual(Object.keys(answer.probabilities), labels);
      const scores = Object.values(answer.scores);
      const probabilities = Object.values(answer.probabilities);
      for (const [index, expected] of softmax(scores).entries())
        close(probabilities[index], expected, 1e-12, name);
      close(
        probabilities.reduce((a, b) => a + b, 0),
        1,
        1e-9,
      );
      assert.equal(answer.confidence, Math.max(...probabilities));
    }
    const choice = answerOf(body, "c");
    const best = Object.entries(choice.scores).reduce((a, b) => (b[1] > a[1] ? b : a));
    assert.equal(choice.choice, best[0]);
    const noul = answerOf(body, "n");
    assert.deepEqual(Object.keys(noul.scores), ["false", "true"]);
    assert.equal(typeof noul.noul, "number");
    assert.equal(noul.noul, noul.probabilities.true);
    const score = answerOf(body, "s");
    assert.deepEqual(Object.keys(score.scores), ["0", "1", "2"]);
    close(score.score, (score.probabilities[1] ?? 0) + 2 * (score.probabilities[2] ?? 0), 1e-9);
  });

  test("a score of 64 levels is the mean of its levels", async () => {
    const criteria = Array.from({ length: 64 }, (_, level) => `level ${level}`);
    const body = await service.decide({ state: "s", questions: { q: { ...SCORE, criteria } } });
    const answer = answerOf(body, "q");
    let mean = 0;
    for (let level = 0; level < 64; level += 1)
      mean += level * (answer.probabilities[String(level)] ?? Number.NaN);
    close(answer.score, mean, 1e-9);
    close(
      Object.values(answer.probabilities).reduce((a, b) => a + b, 0),
      1,
      1e-9,
    );
  });

  test("a ranking has its members, falls in score and gives probabilities by softmax", async () => {
    const texts = ["Paris", " London ", "Rome\n", "Berlin", "the capital"];
    const body = await service.rank({ state: "Capital of France?", candidates: texts });
    assertFrame(body, ["ranked", "usage", "model", "temperature", "probabilities_source", "latency_ms"]);
    assert.deepEqual(
      body.ranked.map(({ rank }) => rank),
      [1, 2, 3, 4, 5],
    );
    const expected = softmax(body.ranked.map(({ score }) => score));
    for (const [index, row] of body.ranked.entries()) {
      assert.deepEqual(Object.keys(row).sort(), ["candidate", "probability", "rank", "score", "text"]);
      assert.equal(row.text, texts[Number(row.candidate)], "the text comes back as sent");
      assert.ok(row.score <= (body.ranked[index - 1]?.score ?? Number.POSITIVE_INFINITY));
      close(row.probability, expected[index] ?? Number.NaN, 1e-12);
    }
    assert.deepEqual(body.ranked.map(({ candidate }) => candidate).sort(), ["0", "1", "2", "3", "4"]);
  });

  test("a ranking of a map keeps its labels, whatever their names", async () => {
    const reply = await service.post(
      "/v1/rank",
      '{"state":"s","candidates":{"10":"ten","2":"two","__proto__":"proto","constructor":"con","":"none","toString":"str"}}',
    );
    assert.equal(reply.status, 200, reply.text);
    const given: Record<string, string> = {
      "10": "ten",
      "2": "two",
      constructor: "con",
      "": "none",
      toString: "str",
    };
    for (const { candidate, text } of reply.body.ranked)
      assert.equal(text, candidate === "__proto__" ? "proto" : given[candidate]);
    assert.equal(reply.body.ranked.length, 6);
  });

  describe("ties", () => {
    // The tokenizer folds case, so these texts differ and their tokens do not.
    for (const { name, given } of [
      { name: "a map", given: '{"9":"Later","1":"LATER","a":"later","0":"latER"}' },
      { name: "a list", given: '["Later","LATER","later","latER"]' },
    ]) {
      test(`of a ranking of ${name} keep the order of the request`, async () => {
        const { ranked } = (await service.post("/v1/rank", `{"state":"s","candidates":${given}}`)).body;
        assert.equal(new Set(ranked.map(({ score }) => score)).size, 1, "equal tokens have equal scores");
        assert.deepEqual(
          ranked.map(({ text }) => text),
          ["Later", "LATER", "later", "latER"],
        );
        for (const { probability } of ranked) close(probability, 0.25, 1e-12);
      });
    }

    test("of a choice go to the first label", async () => {
      const reply = await service.post(
        "/v1/systemone",
        '{"state":"s","questions":{"q":{"type":"choice","instructions":"i","criteria":{"B":null,"b":null}},' +
          '"r":{"type":"choice","instructions":"i","criteria":{"b":null,"B":null}}}}',
      );
      assert.equal(answerOf(reply.body, "q").choice, "B");
      assert.equal(answerOf(reply.body, "r").choice, "b");
    });
  });

  test("answers, probabilities and scores are written in the order of the request", async () => {
    const criteria =
      '{"10":"ten","2":"two","x":"ex","__proto__":"proto","constructor":"con","1":"one","":"none"}';
    const question = `{"type":"choice","instructions":"i","criteria":${criteria}}`;
    const names = ["7", "z", "3", "__proto__", "", "constructor", "0", "hasOwnProperty"];
    const questions = names.map((name) => `${JSON.stringify(name)}:${question}`).join();
    const { status, text } = await service.post("/v1/systemone", `{"state":"s","questions":{${questions}}}`);
    assert.equal(status, 200, text);
    assert.deepEqual(namesIn(text, "answers"), names);
    for (const member of ["probabilities", "scores"])
      assert.deepEqual(namesIn(text, member), ["10", "2", "x", "__proto__", "constructor", "1", ""]);
  });

  test("noul outcomes are written false, true whatever the order of the criteria", async () => {
    const criteria = { true: "yes it is", false: "no it is not" };
    const { text } = await service.post("/v1/systemone", {
      state: "s",
      questions: { q: { ...NOUL, criteria } },
    });
    assert.deepEqual(namesIn(text, "scores"), ["false", "true"]);
    assert.deepEqual(namesIn(text, "probabilities"), ["false", "true"]);
  });

  test("names of questions and labels come back exactly, with any character", async () => {
    const names = [
      "é",
      "e\u0301",
      " pad ",
      'a"b\\c',
      "\u0000",
      "😀",
      "line\nbreak",
      "x".repeat(1000),
      "\u2028",
    ];
    const questions = Object.fromEntries(
      names.map((name) => [name, { ...CHOICE, criteria: { [name]: "a", no: "b" } }]),
    );
    const body = await service.decide({ state: "s", questions });
    assert.deepEqual(Object.keys(body.answers), names);
    for (const name of names) assert.deepEqual(Object.keys(answerOf(body, name).scores), [name, "no"]);
  });

  describe("the model", () => {
    const names = async (): Promise<string[]> => {
      const id = String((await service.health()).model);
      const [plain = ""] = id.split("@");
      return [id, plain, plain.split("/")[1] ?? "", short, ...aliases];
    };

    test("is called by its id, without revision, bare, short, and by the operator's aliases", async () => {
      const [id = "", ...others] = await names();
      for (const model of [id, ...others]) {
        assert.equal((await service.decide({ ...SMALL, model })).model, id);
        assert.equal((await service.rank({ ...SMALL_RANK, model })).model, id);
      }
      const listed = JSON.parse((await service.call("GET", "/v1/models")).text);
      assert.equal(listed.models.length, 1);
      const [entry] = listed.models;
      assert.deepEqual(Object.keys(entry).sort(), [
        ...["aliases", "description", "id", "name", "release_date", "revision", "task"],
      ]);
      assert.equal(entry.id, id);
      assert.equal(entry.name, id);
      assert.equal(entry.task, "typed-decisions");
      assert.equal(entry.revision, id.split("@")[1]);
      assert.deepEqual(entry.aliases, others);
      assert.match(entry.release_date, /^\d{4}-\d{2}-\d{2}$/);
    });

    const refused = [
      "",
      " ",
      "gpt-4",
      "jev-latest",
      `${short[0]?.toUpperCase()}${short.slice(1)}`,
      short.toUpperCase(),
      ` ${short}`,
      `${short} `,
      `${short}@main`,
      "__proto__",
    ];
    for (const model of [...refused, null, 5, true, [short], { id: short }, "x".repeat(100_000)]) {
      test(`is not ${JSON.stringify(model).slice(0, 40)}`, async () => {
        for (const [target, body] of [
          ["/v1/systemone", SMALL],
          ["/v1/rank", SMALL_RANK],
        ] as const) {
          const [issue] = await service.refused(target, { ...body, model });
          assert.deepEqual(issue?.loc, ["body", "model"]);
          assert.ok(issue.msg.length < 500);
        }
      });
    }

    test("is not its id with another revision, a shorter one or capitals in it", async () => {
      const [id = ""] = await names();
      for (const model of [
        id.replace(/@./, (start) => (start === "@0" ? "@1" : "@0")),
        id.slice(0, -1),
        id.toUpperCase(),
        `${id} `,
      ])
        await service.refused("/v1/systemone", { ...SMALL, model });
    });
  });

  describe("noul criteria", () => {
    const scores = async (question: object): Promise<unknown> =>
      answerOf(await service.decide({ state: "It is noon.", questions: { q: question } }), "q").scores;
    const both = { false: "On time", true: "Past the due date" };

    for (const { name, given, want } of [
      {
        name: "no and yes are false and true",
        given: { no: "On time", yes: "Past the due date" },
        want: both,
      },
      {
        name: "aliases mix with other names",
        given: { no: "On time", true: "Past the due date" },
        want: both,
      },
      {
        name: "the order counts for nothing",
        given: { true: "Past the due date", false: "On time" },
        want: both,
      },
      { name: "null is missing", given: null, want: undefined },
      { name: "an empty object is missing", given: {}, want: undefined },
      { name: "blank descriptions are missing", given: { false: " ", true: null }, want: undefined },
      { name: "a null alias is missing", given: { ...both, no: null, yes: null }, want: both },
      { name: "null outcomes are missing", given: { no: null, yes: null }, want: undefined },
      {
        name: "one alone",
        given: { true: "x" },
        want: { true: "x", false: "No. This is false: Is it late?" },
      },
      {
        name: "an object is rendered",
        given: { true: { a: 1 }, false: [1] },
        want: { true: "a: 1", false: "- 1" },
      },
    ]) {
      test(`${name}`, async () => {
        const expected = want === undefined ? NOUL : { ...NOUL, criteria: want };
        assert.deepEqual(await scores({ ...NOUL, criteria: given }), await scores(expected));
      });
    }

    // A null canonical name beside a described alias: null is treated as absent here too.
    test("an alias beside its null canonical name describes the outcome, or is refused as both", async () => {
      const criteria = { true: null, yes: "Past the due date", false: "On time" };
      const { status } = await service.post("/v1/systemone", {
        state: "s",
        questions: { q: { ...NOUL, criteria } },
      });
      assert.ok(status === 200 || status === 422);
    });

    for (const criteria of [
      { false: "a", no: "b" },
      { true: "a", yes: "a" },
      { false: "a", true: "b", yes: "c" },
      { maybe: "a" },
      { False: "a" },
      { YES: "a" },
      { false: "a", true: "b", other: null },
      "text",
      ["a", "b"],
      5,
      true,
    ]) {
      test(`${JSON.stringify(criteria)} is refused`, async () => {
        const issues = await service.refused("/v1/systemone", {
          state: "s",
          questions: { q: { ...NOUL, criteria } },
        });
        assert.deepEqual(issues[0]?.loc.slice(0, 4), ["body", "questions", "q", "criteria"]);
      });
    }
  });

  describe("aliases of a ranking", () => {
    const expected = async () => (await service.rank({ state: "s", candidates: ["a", "b"] })).ranked;
    for (const { name, given } of [
      { name: "context and answers", given: { context: "s", answers: ["a", "b"] } },
      { name: "context alone", given: { context: "s", candidates: ["a", "b"] } },
      { name: "answers alone", given: { state: "s", answers: ["a", "b"] } },
      { name: "a null context", given: { state: "s", context: null, candidates: ["a", "b"] } },
      { name: "null answers", given: { state: "s", candidates: ["a", "b"], answers: null } },
      { name: "both null", given: { context: null, answers: null, candidates: ["a", "b"], state: "s" } },
      { name: "a null question", given: { state: "s", candidates: ["a", "b"], question: null } },
      { name: "an empty question", given: { state: "s", candidates: ["a", "b"], question: "" } },
    ]) {
      test(`${name}: taken`, async () => {
        assert.deepEqual((await service.rank(given)).ranked, await expected());
      });
    }
    for (const { name, given } of [
      { name: "state and context", given: { state: "s", context: "s", candidates: ["a", "b"] } },
      { name: "candidates and answers", given: { state: "s", candidates: ["a", "b"], answers: ["a", "b"] } },
      { name: "neither state nor context", given: { candidates: ["a", "b"] } },
      { name: "neither candidates nor answers", given: { state: "s" } },
      { name: "answers as null only", given: { state: "s", answers: null } },
      { name: "candidates as null only", given: { state: "s", candidates: null } },
      { name: "a blank context beside state", given: { state: "s", context: "", candidates: ["a", "b"] } },
    ]) {
      test(`${name}: refused`, async () => {
        await service.refused("/v1/rank", given);
      });
    }
    test("a null state with a question is a blank state, and so is a null context", async () => {
      const question = "Which?";
      const { ranked } = await service.rank({ state: null, question, candidates: ["a", "b"] });
      assert.deepEqual(
        (await service.rank({ context: null, question, candidates: ["a", "b"] })).ranked,
        ranked,
      );
    });
  });
}
