import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import type { FastifyInstance } from "fastify";
import { createFastEngine } from "../../packages/conformance/test/fast-engine.ts";
import { createApp, createMetrics } from "../../src/app.ts";
import { resolveOptions } from "../../src/options/resolve.ts";
import { prefersOpenMetrics } from "../../src/telemetry/metrics/exposition.ts";
import { memoryLog } from "../server/doubles.ts";
import { packageRoot } from "../support/package-root.ts";
import { familiesIn, seriesValue } from "./metrics-text.ts";

const CANARY = "xyzzymetrics";
const REQUEST = {
  state: `The parcel is late. ${CANARY}`,
  questions: { [CANARY]: { type: "noul", instructions: `Is it late? ${CANARY}` } },
};

describe("the metrics", () => {
  let app: FastifyInstance;
  let text: string;

  const read = async (accept?: string) =>
    app.inject({ url: "/metrics", headers: accept === undefined ? {} : { accept } });

  before(async () => {
    const engine = await createFastEngine(1_000);
    const serviceMetrics = await createMetrics(engine);
    app = await createApp(engine, {
      ...resolveOptions({}),
      log: memoryLog(),
      serviceMetrics,
      mcp: true,
    });
    const headers = { "x-request-id": CANARY, "user-agent": CANARY, authorization: `Bearer ${CANARY}` };
    for (const payload of [REQUEST, REQUEST, { state: "x", candidates: [CANARY] }])
      await app.inject({ method: "POST", url: "/v1/systemone", headers, payload });
    await app.inject({
      method: "POST",
      url: "/v1/rank",
      headers,
      payload: { state: CANARY, candidates: ["a", "b", "B"] },
    });
    await app.inject({ url: `/${CANARY}?${CANARY}`, headers });
    const listTools = { jsonrpc: "2.0", id: CANARY, method: "tools/list" };
    await app.inject({ method: "POST", url: "/mcp", headers, payload: listTools });
    for (const page of ["/docs", "/redoc"]) await app.inject({ url: page, headers });
    text = (await read()).body;
  });
  after(() => app.close());

  it("count requests by operation and status, unknown paths under no name of their own", () => {
    const count = (operation: string, status: number) =>
      seriesValue(text, `decision_requests_total{operation="${operation}",status="${status}"}`);
    assert.deepEqual(
      [count("systemone", 200), count("systemone", 422), count("rank", 200), count("none", 404)],
      [2, 1, 1, 1],
    );
    assert.deepEqual([count("getDocs", 200), count("getRedoc", 200), count("mcp", 200)], [1, 1, 1]);
  });

  it("measure the answered inference requests, step by step", () => {
    for (const step of ["queue", "tokenize", "inference"])
      assert.equal(seriesValue(text, `decision_${step}_duration_seconds_count`), 3, step);
    assert.equal(seriesValue(text, 'decision_request_duration_seconds_count{operation="systemone"}'), 2);
    assert.equal(
      seriesValue(text, 'decision_request_duration_seconds_bucket{le="+Inf",operation="rank"}'),
      1,
    );
    assert.equal(seriesValue(text, 'decision_request_outcomes_total{outcome="completed"}'), 3);
  });

  it("count questions with candidates that are the same to the model", () => {
    assert.equal(seriesValue(text, "decision_indistinct_questions_total"), 1);
  });

  it("count pairs, tokens, batches and what the caches knew", () => {
    const names = ['decision_pairs_total{source="computed"}', 'decision_pairs_total{source="cached"}'];
    assert.deepEqual(
      names.map((name) => seriesValue(text, name)),
      [4, 3],
    );
    assert.equal(seriesValue(text, "decision_score_cache_hits_total"), 2);
    assert.equal(seriesValue(text, "decision_batches_total"), 2);
    assert.equal(seriesValue(text, "decision_batch_pairs_sum"), 4);
    assert.equal(seriesValue(text, "decision_forwards_total"), 2);
    assert.ok(seriesValue(text, "decision_input_tokens_total") > 20);
    assert.ok(seriesValue(text, "decision_token_cache_hits_total") > 0);
    assert.ok(seriesValue(text, "decision_token_cache_misses_total") > 0);
  });

  it("name the model, and show the memory and the event loop of the process", () => {
    assert.match(
      text,
      /^decision_model_info\{model="test\/Fast-1M@[0-9a-f]{40}",model_version="v1\.0\.0",.*\} 1$/m,
    );
    assert.equal(seriesValue(text, "decision_ready"), 1);
    assert.ok(seriesValue(text, "process_resident_memory_bytes") > 1e7);
    assert.ok(seriesValue(text, "nodejs_eventloop_lag_p99_seconds") >= 0);
  });

  it("hold nothing of a request", () => {
    assert.ok(!text.includes(CANARY));
  });

  it("come in the text format of Prometheus, or in OpenMetrics for those who ask", async () => {
    const plain = await read();
    assert.equal(plain.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    const open = await read(
      "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3",
    );
    assert.equal(open.headers["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert.ok(open.body.endsWith("# EOF\n"));
    assert.match(open.body, /^# TYPE decision_requests counter$/m);
    assert.match(open.body, /^decision_requests_total\{operation="rank",status="200"\} 1$/m);
    const again = await read();
    assert.deepEqual(familiesIn(again.body), familiesIn(plain.body));
    assert.match(again.body, /^# TYPE decision_requests_total counter$/m);
  });

  it("refuse other methods", async () => {
    const { statusCode, headers } = await app.inject({ method: "POST", url: "/metrics" });
    assert.deepEqual([statusCode, headers.allow], [405, "GET, HEAD"]);
  });

  it("are all explained in docs/monitoring.md, and nothing else is", () => {
    const page = readFileSync(path.join(packageRoot, "docs/monitoring.md"), "utf8");
    const explained = [...page.matchAll(/^\| `(decision_\w+)` \|/gm)].map(([, name]) => name);
    const own = familiesIn(text).filter((name) => name.startsWith("decision_"));
    assert.deepEqual([...explained].sort(), [...own].sort());
  });
});

describe("without metrics", () => {
  it("there is no /metrics", async () => {
    const engine = await createFastEngine();
    const app = await createApp(engine, { ...resolveOptions({}), log: memoryLog() });
    assert.equal((await app.inject({ url: "/metrics" })).statusCode, 404);
    await app.close();
  });
});

describe("prefersOpenMetrics", () => {
  const prometheus =
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5," +
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
  for (const [accept, want] of [
    [prometheus, true],
    ["application/openmetrics-text", true],
    ["Application/OpenMetrics-Text; Q=0.9, text/plain; q=0.1", true],
    ["text/plain", false],
    ["*/*", false],
    ["application/openmetrics-text;q=0, */*", false],
    ["text/plain, application/openmetrics-text;q=0.5", false],
    ["application/openmetrics-text;q=x", false],
    ["", false],
    [undefined, false],
  ] as const) {
    it(`is ${want} for ${accept ?? "no header"}`, () => assert.equal(prefersOpenMetrics(accept), want));
  }
});
