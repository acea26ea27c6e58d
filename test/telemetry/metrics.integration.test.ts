import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { assertDeclared, assertProtocolError } from "../contract/response-check.ts";
import { freePort, Service, SMALL, words } from "../service/service.ts";
import { seriesValue } from "./metrics-text.ts";

describe("a service with its metrics on a port of their own", () => {
  let service: Service;
  let metricsPort: number;

  const get = (target: string, init?: RequestInit) => fetch(`http://127.0.0.1:${metricsPort}${target}`, init);
  const read = async () => (await get("/metrics")).text();

  before(async () => {
    metricsPort = await freePort();
    service = await Service.start(["--metrics-port", String(metricsPort)]);
  });
  after(() => service.stop());

  it("has nothing else there, and no metrics on its own port", async () => {
    assert.equal((await service.call("GET", "/metrics")).status, 404);
    const elsewhere = await get("/v1/models");
    assertProtocolError(404, elsewhere.headers, await elsewhere.json());
    assert.equal(elsewhere.status, 404);
    const posted = await get("/metrics", { method: "POST" });
    assertProtocolError(405, posted.headers, await posted.json());
    assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"]);
    const metrics = await get("/metrics");
    assertDeclared("getMetrics", metrics.status, metrics.headers, await metrics.text());
    assert.match(metrics.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  });

  it("counts states that the cache knows, and the memory of the inference process", async () => {
    const body = { ...SMALL, state: words(200) };
    for (const _ of [1, 2, 3]) assert.equal((await service.post("/v1/systemone", body)).status, 200);
    const text = await read();
    assert.equal(seriesValue(text, "decision_state_cache_misses_total"), 1);
    assert.equal(seriesValue(text, "decision_state_cache_hits_total"), 2);
    const memory = seriesValue(text, "decision_inference_process_resident_memory_bytes");
    assert.ok(memory > 2e7 && memory < 4e9, String(memory));
  });

  it("counts the restart of its inference process, lives meanwhile, and keeps what it has counted", async () => {
    const [child] = (
      await readFile(`/proc/${service.process.pid}/task/${service.process.pid}/children`, "utf8")
    )
      .trim()
      .split(" ");
    const statuses = new Set<number>();
    process.kill(Number(child), "SIGKILL");
    await service.until(({ status }) => status !== "ready");
    const isReady = service.until(({ status }) => status === "ready");
    statuses.add((await service.call("GET", "/livez")).status);
    await isReady;
    statuses.add((await service.call("GET", "/livez")).status);
    assert.deepEqual([...statuses], [200]);
    const text = await read();
    assert.equal(seriesValue(text, "decision_inference_process_restarts_total"), 1);
    assert.equal(seriesValue(text, "decision_state_cache_hits_total"), 2);
  });
});
