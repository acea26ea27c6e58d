import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readJson } from "../src/client/json.ts";
import { runConformance } from "../src/index.ts";
import { CONTRACT_LIMITS, readLimits } from "../src/trial/limits.ts";
import { type Fault, FaultyService } from "./faulty-service.ts";
import { lengthOf, pairsOf, questionsOf, refuseWhen } from "./planting.ts";
import { inner, readTree, type TreeMap, writeTree } from "./tree.ts";

const OWN = { max_questions: 30, max_candidates: 30, max_pairs: 200 };
const IDS = ["limits.questions", "limits.labels", "limits.levels", "limits.candidates", "limits.pairs"];
const ALSO = ["scores.many-candidates", "arithmetic.many-levels", "scores.own-place"];

const isBeyond = (body: TreeMap) =>
  questionsOf(body).length > OWN.max_questions ||
  [body.get("candidates"), ...questionsOf(body).map((question) => question.get("criteria"))].some(
    (given) => lengthOf(given) > OWN.max_candidates,
  ) ||
  pairsOf(body) > OWN.max_pairs;

/** A server whose limits are lower than the contract's, and told. */
const own: Fault = {
  reply: refuseWhen(isBeyond),
  send: (answer) => {
    const body = readTree(answer.body ?? "");
    if (!(body instanceof Map) || !(body.get("limits") instanceof Map)) return;
    for (const [name, value] of Object.entries(OWN)) inner(body, "limits").set(name, value);
    answer.body = writeTree(body);
  },
};

describe("a server with limits of its own", () => {
  let service: FaultyService;
  before(async () => {
    service = await FaultyService.start();
  });
  after(() => service.stop());
  const failed = async (fault: Fault) => {
    service.plant(fault);
    const { results } = await runConformance({
      baseUrl: service.url,
      profile: "seed",
      only: [...IDS, ...ALSO, "limits.pairs-refused"],
    });
    assert.deepEqual(
      results.filter(({ outcome }) => outcome === "skipped"),
      [],
    );
    return results.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
  };

  it("is held to those that its /health tells", async () => assert.deepEqual(await failed(own), []));

  it("is held to the contract's where its /health tells those", async () => {
    const { reply } = own;
    assert.deepEqual(
      (await failed(reply === undefined ? {} : { reply })).toSorted(),
      [...IDS, ...ALSO].toSorted(),
    );
  });
});

describe("readLimits", () => {
  const read = (limits: unknown) => readLimits(readJson(JSON.stringify({ limits })));
  it("takes the server's own counts", () => {
    const { maxQuestions, maxCandidates, maxPairs } = read(OWN);
    assert.deepEqual([maxQuestions, maxCandidates, maxPairs], Object.values(OWN));
  });
  for (const [name, limits] of Object.entries({
    none: undefined,
    "other types": { max_candidates: "30", max_pairs: null },
    "more than requests should have": { max_candidates: 1_000_000 },
    "pairs that no request reaches": { max_pairs: 1000, max_questions: 24, max_candidates: 30 },
    "pairs too few for the questions": { max_pairs: 60 },
    "too few for the other checks": { max_candidates: 8 },
  }))
    it(`takes the contract's for ${name}`, () => assert.deepEqual(read(limits), CONTRACT_LIMITS));
});
