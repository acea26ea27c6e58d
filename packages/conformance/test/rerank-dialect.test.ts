import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { startFastService } from "../../../test/support/fast-service.ts";
import { runConformance } from "../src/index.ts";

const { url: origin, close } = await startFastService({ apiKey: "the-key" });
after(close);

describe("the profile rerank", () => {
  it("is kept by the service", async () => {
    const report = await runConformance({ baseUrl: origin, profile: "rerank", apiKey: "the-key" });
    const others = report.results.filter(({ outcome }) => outcome !== "passed");
    assert.deepEqual(
      others.map(({ id, came }) => `${id}: ${came}`),
      [],
    );
    assert.ok(report.results.length >= 14);
    assert.equal(report.exitCode, 0);
  });

  it("is not kept where no such operations are", async () => {
    const report = await runConformance({
      baseUrl: `${origin}/typesafe`,
      profile: "rerank",
      apiKey: "the-key",
      isGentle: true,
    });
    const { failed, skipped } = report.counts; // without an operation nobody knows whether a key is wanted: two clauses
    assert.deepEqual([failed, skipped], [report.results.length - 2, 2]);
  });
});
