import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { createApp } from "../../../src/app.ts";
import { runConformance } from "../src/index.ts";
import { createFastEngine } from "./fast-engine.ts";

const apiKey = "the-key";
const silent = () => {};
const engine = await createFastEngine();
const app = await createApp(engine, {
  apiKey,
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

for (const { profile, path, least, elsewhere, keyClauses } of [
  { profile: "typesafe", path: "/typesafe", least: 15, elsewhere: "", keyClauses: undefined },
  { profile: "rerank", path: "", least: 14, elsewhere: "/typesafe", keyClauses: 2 },
  { profile: "mcp", path: "", least: 25, elsewhere: "/typesafe", keyClauses: 1 },
] as const)
  describe(`the profile ${profile}`, () => {
    it("is kept by the service", async () => {
      const { results, exitCode } = await runConformance({ baseUrl: origin + path, profile, apiKey });
      const others = results.filter(({ outcome }) => outcome !== "passed");
      assert.deepEqual(
        others.map(({ id, came }) => `${id}: ${came}`),
        [],
      );
      assert.ok(results.length >= least);
      assert.equal(exitCode, 0);
    });

    it("is not kept where there is no such dialect", async () => {
      const baseUrl = origin + elsewhere;
      const { counts, exitCode } = await runConformance({ baseUrl, profile, apiKey, isGentle: true });
      // without an operation nobody knows whether a key is wanted
      if (keyClauses !== undefined) assert.deepEqual([counts.passed, counts.skipped], [0, keyClauses]);
      assert.equal(exitCode, 1);
    });

    it("asks nothing of a server whose key is missing", async () => {
      const { counts } = await runConformance({ baseUrl: origin + path, profile });
      assert.deepEqual([counts.failed, counts.skipped > 0], [0, true]);
    });
  });

describe("the profile typesafe", () => {
  it("is not kept by the plain contract, which knows no jev-latest", async () => {
    const report = await runConformance({ baseUrl: origin, profile: "typesafe", apiKey });
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
  });
});
