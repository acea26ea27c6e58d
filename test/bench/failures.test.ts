import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type BenchOptions, bench } from "../../bench/bench.ts";
import type { LevelReport } from "../../bench/http/load.ts";
import { failuresOf, type Report } from "../../bench/report/report.ts";
import { runBench } from "../../src/cli/commands/bench.ts";
import { failuresText } from "../../src/cli/output/bench-text.ts";
import { ServiceError } from "../../src/errors.ts";
import { resolveOptions } from "../../src/options/resolve.ts";
import { type FakeServer, type Fate, startFakeServer } from "./fake-server.ts";

const { signal } = new AbortController();
const control = { signal, progress: () => {} };

describe("a run against a server", () => {
  const servers: FakeServer[] = [];
  after(() => Promise.all(servers.map((server) => server.close())));

  /** One request as warm-up, one of a single caller, one at a rate that sends it at once. */
  const optionsFor = async (
    fateOf: (index: number) => Fate,
    healthOf: () => Fate = () => 200,
  ): Promise<BenchOptions> => {
    const server = await startFakeServer(fateOf, { healthOf });
    servers.push(server);
    return {
      service: resolveOptions({}),
      parts: ["http"],
      isFull: false,
      seed: 1,
      seconds: 1,
      count: 1,
      workload: "short",
      url: server.url,
      rate: 1_000,
    };
  };

  const cases: { name: string; closed?: Fate; open?: Fate; says?: RegExp }[] = [
    { name: "right answers" },
    { name: "a refusal of the open loop", open: 503 },
    { name: "a deadline of the open loop", open: 504 },
    { name: "a refusal of the closed loop", closed: 503, says: /1 x status 503 instead of 200/ },
    { name: "a wrong answer of the closed loop", closed: "wrong", says: /1 x the labels/ },
    { name: "a wrong answer of the open loop", open: "wrong", says: /1 x the labels/ },
    { name: "a 4xx of the open loop", open: 401, says: /1 x status 401 instead of 200/ },
    { name: "a failure of the server", open: 500, says: /1 x status 500 instead of 200/ },
    {
      name: "cut connections of the closed loop",
      closed: "cut",
      says: /[1-9]\d* x (connection closed without an answer|read ECONNRESET)/,
    },
    {
      name: "a cut connection of the open loop",
      open: "cut",
      says: /1 x (other side closed|read ECONNRESET)/,
    },
  ];
  for (const { name, closed = 200, open = 200, says } of cases) {
    it(`${says ? "fails for" : "ends well with"} ${name}, and times right answers alone`, async () => {
      let step = "";
      const fates = new Map([
        ["callers", closed],
        ["requests/s", open],
      ]);
      const options = await optionsFor(() => fates.get(step.split(" ")[1] ?? "") ?? 200);
      const report = await bench(options, {
        signal,
        progress: (text) => {
          step = text;
        },
      });
      assert.match(failuresText(failuresOf(report)) ?? "nothing", says ?? /^nothing$/);
      const [server] = report.http?.servers ?? [];
      const counts = [...(server?.closed ?? []), ...(server?.open ?? [])].map(({ latency }) => latency.count);
      assert.deepEqual(counts, [Number(closed === 200), Number(open === 200)]);
    });
  }

  it("prints its report before it fails", async () => {
    const runAgainst = async (fateOf: (index: number) => Fate) => {
      const printed: string[] = [];
      const ended = runBench(await optionsFor(fateOf), { isJson: true }, (text) => printed.push(text));
      const result = await ended.catch((error: unknown) => error);
      const report: Report = JSON.parse(printed.join(""));
      return { result, statuses: report.http?.servers[0]?.closed[0]?.statuses };
    };
    assert.deepEqual(await runAgainst(() => 200), { result: false, statuses: { 200: 1 } });
    const { result, statuses } = await runAgainst((index) => (index === 0 ? 200 : 401));
    assert.deepEqual(statuses, { 401: 1 });
    assert.ok(result instanceof ServiceError && result.kind === "INTERNAL");
    assert.match(result.message, /^2 requests failed and .*: 2 x status 401 instead of 200\.$/);
  });

  it("sends requests for models that this machine does not know", async () => {
    const text = '{"model": "acme/other", "state": "s", "candidates": ["a", "b"]}\n';
    const requests = { name: "mine.jsonl", text };
    const { workload: _, ...options } = await optionsFor(() => 200);
    const report = await bench({ ...options, requests }, control);
    assert.deepEqual(failuresOf(report), {});
    const { url: __, ...local } = { ...options, requests };
    await assert.rejects(bench(local, control), /line 1: model: /);
  });
});

describe("answers that do not come in time", () => {
  const level = (offered: number | null): LevelReport => {
    const failures = { "no answer in time": 2, "not sent: too many requests in progress": 1 };
    // only the counts are read
    return { offered, callers: offered === null ? 1 : null, failures } as unknown as LevelReport;
  };
  const report = (levels: { closed: readonly LevelReport[]; open: readonly LevelReport[] }): Report => {
    const http = { servers: [{ saturation: 10, ...levels }], limits: [] };
    return { http, memory: null } as unknown as Report;
  };

  it("are failures of callers who wait, and at rates that the server has been seen to do", () => {
    const failures = failuresOf(report({ closed: [level(null)], open: [level(8)] }));
    assert.deepEqual(failures, { "no answer in time": 4, "not sent: too many requests in progress": 2 });
  });

  it("nor are requests that a model with smaller limits refuses", () => {
    const tooLong = { ...level(null), failures: { "too long for the served model": 3 } };
    assert.deepEqual(failuresOf(report({ closed: [tooLong], open: [] })), {});
  });

  it("are none at larger rates", () => {
    assert.deepEqual(failuresOf(report({ closed: [], open: [level(11)] })), {});
  });
});
