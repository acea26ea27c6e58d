import { describe, it } from "node:test";
import { type Fault, FaultyService, KEY } from "./faulty-service.ts";
import { assertKept, WITH_KEY, WITHOUT_KEY } from "./kept.ts";

/** The last two levels of the first long question have equal scores, as rounding may make them. */
function equalOnce(): Fault {
  let isDone = false;
  return {
    scores: (scored) => ({
      ...scored,
      scores: scored.scores.map((scores) => {
        if (isDone || scores.length < 10) return scores;
        isDone = true;
        return scores.map((score, index) => scores[Math.min(index, scores.length - 2)] ?? score);
      }),
    }),
  };
}

describe("our own service keeps every clause:", () => {
  it("over a fast model, without a key", async () => {
    const service = await FaultyService.start();
    try {
      await assertKept({ baseUrl: service.url }, WITHOUT_KEY);
    } finally {
      await service.stop();
    }
  });

  it("with a key, those about keys", async () => {
    const service = await FaultyService.start({ apiKey: KEY });
    try {
      await assertKept(
        { baseUrl: service.url, apiKey: KEY, only: ["auth", "media.order-of-checks"] },
        WITH_KEY,
      );
    } finally {
      await service.stop();
    }
  });

  it("also with two scores that are equal by chance", async () => {
    const service = await FaultyService.start();
    try {
      service.fault = equalOnce();
      await assertKept({ baseUrl: service.url, only: ["scores.whole-description"] }, []);
    } finally {
      await service.stop();
    }
  });
});
