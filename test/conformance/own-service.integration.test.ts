import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KEY, Service } from "../service/service.ts";
import { FaultyService } from "./faulty-service.ts";
import { assertKept, type Options, WITH_KEY, WITHOUT_KEY } from "./kept.ts";

describe("our own service keeps every clause:", () => {
  it("all but what is hard on a server, as its users have it: a process with the embedded model", async () => {
    const service = await Service.start([], { DECISION_API_KEY: KEY });
    try {
      const baseUrl = `http://127.0.0.1:${service.port}`;
      await assertKept({ baseUrl, apiKey: KEY, timeoutSeconds: 60, isGentle: true }, WITH_KEY);
    } finally {
      assert.equal(await service.stop(), 0);
    }
  });

  for (const { name, options, service: given, skipped } of [
    { name: "over a fast model, without a key", options: {}, service: {}, skipped: WITHOUT_KEY },
    { name: "over a fast model, gently", options: { isGentle: true }, service: {}, skipped: WITHOUT_KEY },
    {
      name: "with a score cache",
      options: {},
      service: { cacheSize: 1000 },
      skipped: [
        ...WITHOUT_KEY,
        "usage.additive",
        "usage.cache-off",
        "usage.each-length",
        "usage.side-by-side",
      ],
    },
  ] satisfies {
    name: string;
    options: Partial<Options>;
    service: { readonly cacheSize?: number };
    skipped: string[];
  }[]) {
    it(name, async () => {
      const service = await FaultyService.start(given);
      try {
        await assertKept({ ...options, baseUrl: service.url }, skipped.toSorted());
        // what a run left in a cache must not disturb the next
        if (given.cacheSize !== undefined)
          await assertKept({ ...options, baseUrl: service.url }, skipped.toSorted());
      } finally {
        await service.stop();
      }
    });
  }
});
