import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { closedLoop } from "../../bench/http/closed-loop.ts";
import { Target } from "../../bench/http/target.ts";
import { WORKLOADS } from "../../bench/workloads/generated.ts";
import { type FakeServer, type Fate, startFakeServer } from "./fake-server.ts";

const { signal } = new AbortController();
const [short] = WORKLOADS;
assert.ok(short);

describe("the closed loop", () => {
  const servers: FakeServer[] = [];
  after(() => Promise.all(servers.map((server) => server.close())));

  /** One caller asks a server ten times at most. */
  const run = async (fateOf: (index: number) => Fate, { base = "", patienceMs = 5_000 } = {}) => {
    const server = await startFakeServer(fateOf);
    servers.push(server);
    let index = 0;
    const next = () => short.request(1, index++);
    const limits = { callers: 1, budgetMs: 5_000, maxRequests: 10, patienceMs };
    const result = await closedLoop(new Target(server.url + base), { ...limits, next, signal });
    return { ...result, paths: server.paths };
  };

  it("counts right answers alone in its latencies, and ends after as many answers as were asked for", async () => {
    const fates: Fate[] = [200, 503, "wrong", 200, 401];
    const { tally } = await run((index) => fates[index % fates.length] ?? 200);
    assert.equal(tally.latency().count, 4);
    assert.deepEqual(tally.counts(), {
      statuses: { 200: 6, 401: 2, 503: 2 },
      failures: {
        "status 503 instead of 200": 2,
        "the labels are not those asked for": 2,
        "status 401 instead of 200": 2,
      },
    });
  });

  it("counts cut connections, and goes on", async () => {
    const { tally } = await run((index) => (index < 3 ? "cut" : 200));
    const { failures, statuses } = tally.counts();
    assert.deepEqual(statuses, { 200: 10 });
    assert.equal(
      Object.values(failures).reduce((sum, count) => sum + count, 0),
      3,
    );
    assert.equal(tally.latency().count, 10);
  });

  it("takes the end of a connection for no failure where the server has announced it", async () => {
    const { tally } = await run(() => "last");
    assert.deepEqual(tally.counts(), { statuses: { 200: 10 }, failures: {} });
  });

  it("does not wait for ever, and counts callers who waited in vain", async () => {
    const server = await startFakeServer(() => "silent");
    servers.push(server);
    const limits = { callers: 3, budgetMs: 20, maxRequests: 10, patienceMs: 20 };
    const next = () => short.request(1, 0);
    const { tally } = await closedLoop(new Target(server.url), { ...limits, next, signal });
    assert.equal(tally.latency().count, 0);
    assert.deepEqual(tally.counts(), { statuses: {}, failures: { "no answer in time": 3 } });
  });
});
