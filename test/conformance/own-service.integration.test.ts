import { describe, it } from "node:test";
import { FaultyService } from "./faulty-service.ts";
import { assertKept, WITHOUT_KEY } from "./kept.ts";

describe("our own service keeps every clause:", () => {
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
