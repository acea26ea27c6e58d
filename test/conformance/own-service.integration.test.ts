import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KEY, Service } from "../service/service.ts";
import { FaultyService } from "./faulty-service.ts";
import { assertKept, WITH_KEY, WITHOUT_KEY } from "./kept.ts";

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

  for (const { name, isGentle } of [
    { name: "over a fast model, without a key", isGentle: false },
    { name: "over a fast model, gently", isGentle: true },
  ]) {
    it(name, async () => {
      const service = await FaultyService.start();
      try {
        await assertKept({ baseUrl: service.url, isGentle }, WITHOUT_KEY);
      } finally {
        await service.stop();
      }
    });
  }
});
