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
  typesafeAlias: [],
});
await app.listen({ host: "127.0.0.1", port: 0 });
const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`; // it listens on TCP
after(async () => {
  app.server.closeAllConnections();
  await app.close();
  await engine.close();
});

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
    const { failed, skipped } = report.counts; // without an operation nobody knows whether a key is wanted
    assert.deepEqual([failed, skipped], [report.results.length - 1, 1]);
  });
});
