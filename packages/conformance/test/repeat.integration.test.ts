import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { runConformance, WrongUsage } from "../src/index.ts";
import { FaultyService } from "./faulty-service.ts";

let service: FaultyService;
let bodies: string[] = [];
before(async () => {
  service = await FaultyService.start();
  service.plant({
    request: (text) => {
      bodies.push(text);
      return text;
    },
  });
});
after(() => service.stop());

async function bodiesOf(seed: number | undefined): Promise<readonly string[]> {
  bodies = [];
  const only = ["usage", "scores.own-request", "limits.tokens.never-cut", "texts.trimmed"];
  await runConformance({ baseUrl: service.url, seed, only });
  return bodies.toSorted();
}

describe("a run repeats", () => {
  it("the same requests with the same seed, and others with another", async () => {
    const first = await bodiesOf(7);
    assert.ok(first.length > 50);
    assert.deepEqual(await bodiesOf(7), first);
    assert.notDeepEqual(await bodiesOf(8), first);
    assert.notDeepEqual(await bodiesOf(undefined), await bodiesOf(undefined));
  });

  it("in parts that are the whole together", async () => {
    const only = ["rank", "systemone"];
    const whole = await runConformance({ baseUrl: service.url, only });
    const parts = await Promise.all(
      ["1/3", "2/3", "3/3"].map((shard) => runConformance({ baseUrl: service.url, only, shard })),
    );
    const ids = parts.flatMap(({ results }) => results.map(({ id }) => id));
    assert.deepEqual(ids.toSorted(), whole.results.map(({ id }) => id).toSorted());
  });

  for (const options of [
    { shard: "0/2" },
    { shard: "3/2" },
    { shard: "half" },
    { seed: -1 },
    { seed: 1.5 },
    { shard: "2/2", only: ["rank.rows"] },
  ]) {
    it(`not with ${JSON.stringify(options)}`, async () => {
      await assert.rejects(runConformance({ baseUrl: service.url, ...options }), WrongUsage);
    });
  }
});

describe("a baseline", () => {
  const format = "decision-conformance-baseline-v1";
  for (const { name, text } of [
    { name: "no JSON", text: "{" },
    { name: "another format", text: '{"accepted":[]}' },
    { name: "no list", text: JSON.stringify({ format, accepted: {} }) },
    { name: "no reason", text: JSON.stringify({ format, accepted: [{ clause: "rank.rows", reason: " " }] }) },
    {
      name: "an unknown clause",
      text: JSON.stringify({ format, accepted: [{ clause: "rank.nope", reason: "x" }] }),
    },
    {
      name: "a clause twice",
      text: JSON.stringify({
        format,
        accepted: ["x", "y"].map((reason) => ({ clause: "rank.rows", reason })),
      }),
    },
  ]) {
    it(`is refused with ${name}`, async () => {
      await assert.rejects(runConformance({ baseUrl: service.url, baseline: text }), WrongUsage);
    });
  }
});
