import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { createApp } from "../../src/app.ts";
import { runConformance } from "../../src/conformance/index.ts";
import { createFastEngine } from "./fast-engine.ts";

const silent = () => {};
const engine = await createFastEngine();
const app = await createApp(engine, {
  apiKey: "the-key",
  log: { debug: silent, info: silent, warn: silent, error: silent },
  port: 0,
  maxConnections: 1000,
  headersTimeoutMs: 20_000,
  bodyMemoryMb: 64,
});
await app.listen({ host: "127.0.0.1", port: 0 });
const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`; // it listens on TCP
after(async () => {
  app.server.closeAllConnections();
  await app.close();
  await engine.close();
});

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
