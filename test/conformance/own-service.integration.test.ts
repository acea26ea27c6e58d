import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runConformance } from "../../src/conformance/index.ts";
import { KEY, Service } from "../service/service.ts";
import { FaultyService } from "./faulty-service.ts";

type Options = Parameters<typeof runConformance>[0];

/** What a service without a key cannot tell, and one with a key. */
const WITHOUT_KEY = [
  "auth.accepted",
  "auth.before-body",
  "auth.before-body-comes",
  "auth.challenge",
  "auth.each-request",
  "auth.elsewhere",
  "auth.missing",
  "auth.wrong",
];
const WITH_KEY = ["auth.none-configured"];

async function assertKept(options: Options, skipped: readonly string[]): Promise<void> {
  const report = await runConformance(options);
  const of = (outcome: string) => report.results.filter((result) => result.outcome === outcome);
  assert.deepEqual(
    of("failed").map(({ id, came, curl }) => `${id}: ${came}\n${curl}`),
    [],
  );
  assert.deepEqual(
    of("skipped")
      .map(({ id }) => id)
      .toSorted(),
    skipped,
  );
  assert.equal(report.exitCode, 0);
  assert.equal(report.obstacle, undefined);
}

describe("our own service keeps every clause:", () => {
  it("the whole profile, as its users have it: a process with the embedded model, over a socket", async () => {
    const service = await Service.start([], { DECISION_API_KEY: KEY });
    try {
      const baseUrl = `http://127.0.0.1:${service.port}`;
      await assertKept({ baseUrl, apiKey: KEY, timeoutSeconds: 60 }, WITH_KEY);
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
