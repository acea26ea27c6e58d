import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { KEY, Service } from "../../../test/service/service.ts";
import { jointPackage } from "../../../test/support/gemma3.ts";
import { FaultyService } from "./faulty-service.ts";
import { assertKept, WITH_KEY, WITHOUT_KEY } from "./kept.ts";

async function withService(
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
  use: (baseUrl: string) => Promise<void>,
): Promise<void> {
  const service = await Service.start(flags, env);
  try {
    await use(`http://127.0.0.1:${service.port}`);
  } finally {
    assert.equal(await service.stop(), 0);
  }
}

describe("our own service keeps every clause of the whole profile", () => {
  it("with the embedded model", async () => {
    await withService([], { DECISION_API_KEY: KEY }, async (baseUrl) => {
      await assertKept({ baseUrl, apiKey: KEY, timeoutSeconds: 60 }, WITH_KEY);
    });
  });

  it("over a fast model, gently", async () => {
    const service = await FaultyService.start();
    try {
      await assertKept({ baseUrl: service.url, isGentle: true }, WITHOUT_KEY);
    } finally {
      await service.stop();
    }
  });

  it("with a joint model", async () => {
    // the graph of a test's model is not to lie among the user's
    const cache = await mkdtemp(path.join(tmpdir(), "joint-model-"));
    const flags = ["--model-path", jointPackage("small-270m").folder, "--precision", "int8"];
    try {
      await withService(flags, { XDG_CACHE_HOME: cache }, async (baseUrl) => {
        // no two of the texts that are tried have one score
        await assertKept({ baseUrl, timeoutSeconds: 60 }, [...WITHOUT_KEY, "rank.ties", "systemone.ties"]);
      });
    } finally {
      await rm(cache, { recursive: true });
    }
  });

  it("with a score cache, also after a run that left its scores there", async () => {
    const service = await FaultyService.start({ cacheSize: 1000 });
    const counted = [
      "usage.additive",
      "usage.cache-off",
      "usage.each-length",
      "usage.many-pairs",
      "usage.side-by-side",
    ];
    try {
      for (let run = 0; run < 2; run++)
        await assertKept({ baseUrl: service.url }, [...WITHOUT_KEY, ...counted]);
    } finally {
      await service.stop();
    }
  });
});
