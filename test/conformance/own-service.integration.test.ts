import { describe, it } from "node:test";
import { FaultyService } from "./faulty-service.ts";
import { assertKept, WITHOUT_KEY } from "./kept.ts";

describe("our own service keeps every clause:", () => {
  it("over a fast model, without a key", async () => {
    const service = await FaultyService.start();
    try {
      await assertKept({ baseUrl: service.url }, WITHOUT_KEY);
    } finally {
      await service.stop();
    }
  });
});
