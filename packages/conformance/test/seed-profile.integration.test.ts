import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { runConformance } from "../src/index.ts";
import { createSeedServer } from "./seed-server.ts";

const KEY = "another-key";
let open: Server;
let keyed: Server;
before(async () => {
  [open, keyed] = [createSeedServer(), createSeedServer(KEY)];
  for (const server of [open, keyed]) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
});
after(() => {
  for (const server of [open, keyed]) {
    server.closeAllConnections();
    server.close();
  }
});
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP

describe("a server that keeps the profile seed only", () => {
  it("keeps the profile seed, whatever it does elsewhere", async () => {
    const report = await runConformance({ baseUrl: urlOf(open), profile: "seed" });
    const broken = report.results.filter(({ outcome }) => outcome === "failed");
    assert.deepEqual(
      broken.map(({ id, came }) => `${id}: ${came}`),
      [],
    );
    assert.equal(report.exitCode, 0);
    const skipped = report.results.filter(({ outcome }) => outcome === "skipped").map(({ id }) => id);
    assert.deepEqual(
      skipped.filter((id) => !/^(auth|overload)\./.test(id)),
      [
        "model.short-alias", // no list tells it
        "rank.ties", // hashes do not tie
        "usage.cache-off", // only our /health tells
      ],
    );
  });

  it("keeps it with a tokenizer of another kind", async () => {
    // two tokens for words that others have whole, and as many for a letter as its place in the alphabet tells
    const count = (text: string) =>
      text
        .split(/\s+/)
        .filter((word) => word !== "")
        .reduce((sum, word) => sum + (/^(go|the|a|1)$/.test(word) ? 2 : 1 + (word.charCodeAt(0) % 3)), 0);
    const server = createSeedServer(undefined, count);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const only = ["limits.tokens", "usage", "scores", "health"];
      const report = await runConformance({ baseUrl: urlOf(server), profile: "seed", only });
      assert.deepEqual(
        report.results.filter(({ outcome }) => outcome === "failed").map(({ id, came }) => `${id}: ${came}`),
        [],
      );
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("keeps it with a key too", async () => {
    const report = await runConformance({
      baseUrl: urlOf(keyed),
      profile: "seed",
      apiKey: KEY,
      isGentle: true,
    });
    assert.deepEqual(
      report.results.filter(({ outcome }) => outcome === "failed").map(({ id, came }) => `${id}: ${came}`),
      [],
    );
  });

  it("does not keep the profile full, and is told so", async () => {
    const report = await runConformance({
      baseUrl: urlOf(open),
      only: ["health.schema", "headers", "errors.issues"],
    });
    assert.equal(report.exitCode, 1);
    assert.ok(report.counts.failed >= 5);
  });
});
