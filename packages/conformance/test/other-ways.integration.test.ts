import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { runConformance } from "../src/index.ts";
import { FaultyService, type WireAnswer } from "./faulty-service.ts";
import { showing } from "./planting.ts";
import { health, json } from "./planting-http.ts";
import { inner } from "./tree.ts";

/** Every refusal of a flood, told as if the deadline could not be met. */
const overloaded =
  (retryAfter: string) =>
  ({ status, headers }: WireAnswer) => {
    if (status !== 503) return;
    headers["x-decision-error"] = "OVERLOADED";
    headers["retry-after"] = retryAfter;
  };

describe("a full queue", () => {
  let service: FaultyService;
  before(async () => {
    service = await FaultyService.start();
  });
  after(() => service.stop());

  const cases = [
    {
      name: "may be refused as OVERLOADED, with an estimate in Retry-After",
      retryAfter: "7",
      outcome: "passed",
    },
    { name: "is not refused with an estimate that is no whole number", retryAfter: "0.5", outcome: "failed" },
    { name: "is not refused with an estimate of nothing", retryAfter: "0", outcome: "failed" },
  ];
  for (const { name, retryAfter, outcome } of cases) {
    it(name, async () => {
      service.plant({ send: overloaded(retryAfter) });
      const { results } = await runConformance({ baseUrl: service.url, only: ["overload.refused"] });
      assert.deepEqual(
        results.map(({ id, outcome }) => `${id} ${outcome}`),
        [`overload.refused ${outcome}`],
      );
    });
  }
});

/** Outcomes of clauses, by id. */
async function outcomesOf(service: FaultyService, only: readonly string[]) {
  try {
    const { results } = await runConformance({ baseUrl: service.url, only });
    return new Map(results.map(({ id, outcome, came }) => [id, outcome === "failed" ? came : outcome]));
  } finally {
    await service.stop();
  }
}

describe("a model", () => {
  it("may have lower limits of tokens, for which some texts of the checks are too long", async () => {
    const limits = { maxStateQuestionTokens: 160, maxCandidateTokens: 160 };
    const service = await FaultyService.start({ limits });
    const only = ["scores.whole-state", "scores.whole-candidate", "limits.tokens", "limits.nesting", "usage"];
    const outcomes = await outcomesOf(service, only);
    const skipped = [...outcomes].filter(([, outcome]) => outcome !== "passed");
    assert.deepEqual(skipped, [["limits.nesting", "skipped"]]);
  });

  it("may read a yes/no question as one pair of texts, as classifiers do", async () => {
    const service = await FaultyService.start();
    service.plant(showing(({ label, text }) => (label === "false" ? "no" : text)));
    const outcomes = await outcomesOf(service, ["texts.noul-half", "texts.only-state-holds-json"]);
    assert.deepEqual(Object.fromEntries(outcomes), {
      "texts.noul-half": "skipped",
      "texts.only-state-holds-json": "passed",
    });
  });
});

describe("a server of the contract", () => {
  it("may report more in /health, and may do without /openapi.typed.json", async () => {
    const service = await FaultyService.start();
    const checks = ["health.schema", "ready.schema", "docs.openapi-contract", "docs.openapi-schemas"];
    try {
      for (const fault of [
        health((body) => void body.set("hostname", "server-1")),
        json("/openapi.json", (body) => void inner(body, "paths").delete("/openapi.typed.json")),
      ]) {
        service.plant(fault);
        const { results } = await runConformance({ baseUrl: service.url, only: checks });
        assert.deepEqual(
          results.map(({ outcome }) => outcome),
          checks.map(() => "passed"),
        );
      }
    } finally {
      await service.stop();
    }
  });
});
