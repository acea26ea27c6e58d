import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { startFastService } from "../../../test/support/fast-service.ts";
import { runConformance } from "../src/index.ts";

const { url: origin, close } = await startFastService({ apiKey: "the-key" });
after(close);

describe("the profile typesafe", () => {
  it("is kept by the dialect", async () => {
    const report = await runConformance({
      baseUrl: `${origin}/typesafe`,
      profile: "typesafe",
      apiKey: "the-key",
    });
    const others = report.results.filter(({ outcome }) => outcome !== "passed");
    assert.deepEqual(
      others.map(({ id, came }) => `${id}: ${came}`),
      [],
    );
    assert.ok(report.results.length >= 15);
    assert.equal(report.exitCode, 0);
  });

  it("is not kept by the plain contract, which knows no jev-latest", async () => {
    const report = await runConformance({ baseUrl: origin, profile: "typesafe", apiKey: "the-key" });
    const broken = report.results.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
    for (const id of [
      "answers.envelope",
      "answers.legend",
      "requests.accepted",
      "models",
      "request-id",
      "keys",
    ])
      assert.ok(broken.includes(`typesafe.${id}`), id);
    assert.equal(report.exitCode, 1);
  });

  it("asks nothing of a server whose key is missing", async () => {
    const report = await runConformance({ baseUrl: `${origin}/typesafe`, profile: "typesafe" });
    assert.deepEqual([report.counts.failed, report.counts.skipped > 0], [0, true]);
  });
});
