import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { createApp } from "../../../src/app.ts";
import { runConformance } from "../src/index.ts";
import { createFastEngine } from "./fast-engine.ts";

const silent = () => {};
const engine = await createFastEngine();
const app = await createApp(engine, {
  apiKey: "the-key",
  log: { debug: silent, info: silent, warn: silent, error: silent },
  maxConnections: 1000,
  headersTimeoutMs: 20_000,
  bodyMemoryMb: 64,
  mcp: true,
});
await app.listen({ host: "127.0.0.1", port: 0 });
const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`; // it listens on TCP
after(async () => {
  app.server.closeAllConnections();
  await app.close();
  await engine.close();
});

describe("the profile mcp", () => {
  it("is kept by the service", async () => {
    const report = await runConformance({ baseUrl: origin, profile: "mcp", apiKey: "the-key" });
    const others = report.results.filter(({ outcome }) => outcome !== "passed");
    assert.deepEqual(
      others.map(({ id, came }) => `${id}: ${came}`),
      [],
    );
    assert.ok(report.results.length >= 25);
    assert.equal(report.exitCode, 0);
  });

  it("is not kept where there is no such endpoint", async () => {
    const report = await runConformance({ baseUrl: `${origin}/typesafe`, profile: "mcp", apiKey: "the-key" });
    const skipped = report.results.filter(({ outcome }) => outcome === "skipped").map(({ id }) => id);
    assert.deepEqual(skipped, ["mcp.keys"]); // without an endpoint nobody knows whether a key is wanted
    assert.equal(report.counts.passed, 0);
    assert.equal(report.exitCode, 1);
  });

  it("asks nothing of a server whose key is missing", async () => {
    const report = await runConformance({ baseUrl: origin, profile: "mcp" });
    assert.deepEqual([report.counts.failed, report.counts.skipped > 0], [0, true]);
  });
});
