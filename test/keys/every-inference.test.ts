import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { createFastEngine, type FastEngineParts } from "../../packages/conformance/test/fast-engine.ts";
import { createApp, createContractFor, createDialectsFor, createMetrics } from "../../src/app.ts";
import { digestOf, type KeyEntry, writeKeyFile } from "../../src/keys/key-file.ts";
import { KeyAccount, KeyRates } from "../../src/keys/key-rates.ts";
import { KeyRing } from "../../src/keys/key-ring.ts";
import { resolveOptions } from "../../src/options/resolve.ts";
import type { RequestRecord } from "../../src/server/request-record.ts";
import { memoryLog } from "../server/doubles.ts";
import { seriesValue } from "../telemetry/metrics-text.ts";

const QUESTIONS = { q: { type: "noul", instructions: "Is it late?" } };
const ASKED = { state: "The parcel is late. It was sent in May.", questions: QUESTIONS };
const RANKED = { state: "s", candidates: ["a", "b"] };
const RERANKED = { query: "q", documents: ["one text", "another text"] };

const toolCall = (name: string, given: unknown, id = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: given },
});

/** Every way to the model, by operation and URL. A test below compares it with the documents. */
const WAYS = [
  { operation: "systemone", url: "/v1/systemone", payload: ASKED },
  { operation: "rank", url: "/v1/rank", payload: RANKED },
  { operation: "explain", url: "/v1/explain", payload: ASKED },
  { operation: "typesafeSystemone", url: "/typesafe/v1/systemone", payload: ASKED },
  { operation: "cohereRerank", url: "/v2/rerank", payload: { model: "any", ...RERANKED } },
  { operation: "jinaRerank", url: "/v1/rerank", payload: { model: "any", ...RERANKED } },
  { operation: "teiRerank", url: "/rerank", payload: { query: "q", texts: RERANKED.documents } },
  { operation: "mcp", url: "/mcp", payload: toolCall("decide", ASKED) },
  { operation: "mcp", url: "/mcp", payload: toolCall("rank", RANKED) },
] as const;

const folder = mkdtempSync(path.join(tmpdir(), "every-inference-"));
after(() => rmSync(folder, { recursive: true }));

/** A service with one key, and what it noted of its requests. */
async function serviceFor(limits: Omit<KeyEntry, "name" | "digest">, parts: FastEngineParts = {}) {
  const file = path.join(folder, "keys.txt");
  writeFileSync(file, writeKeyFile([{ name: "web", digest: digestOf("secret"), ...limits }]));
  const engine = await createFastEngine(0, parts);
  const serviceMetrics = await createMetrics(engine);
  const log = memoryLog();
  const traced: RequestRecord[] = [];
  const tracing = {
    begin: () => ({ traceId: "0", headers: {}, end: (record: RequestRecord) => traced.push(record) }),
    close: async () => {},
  };
  const app = await createApp(engine, {
    ...resolveOptions({}),
    apiKey: new KeyRing({ file }),
    log,
    serviceMetrics,
    tracing,
    mcp: true,
    explain: true,
  });
  return {
    log,
    traced,
    ask: (url: string, payload: object) =>
      app.inject({ method: "POST", url, headers: { authorization: "Bearer secret" }, payload }),
    metric: async (name: string) => seriesValue((await app.inject({ url: "/metrics" })).body, name),
    async [Symbol.asyncDispose]() {
      await app.close();
      await engine.close();
    },
  };
}

it("are all the operations with a body", async () => {
  const engine = await createFastEngine();
  const dialects = await createDialectsFor(engine, { withOptional: true });
  const contracts = [await createContractFor(engine), ...dialects.map(({ contract }) => contract)];
  const operations = contracts.flatMap(({ routes }) => routes.filter(({ hasBody }) => hasBody));
  assert.deepEqual(
    [...operations.map(({ operationId, path }) => `${operationId} ${path}`), "mcp /mcp"].sort(),
    [...new Set(WAYS.map(({ operation, url }) => `${operation} ${url}`))].sort(),
  );
});

for (const { operation, url, payload } of WAYS) {
  const tool = "params" in payload ? ` (${payload.params.name})` : "";

  describe(`${operation}${tool}`, () => {
    it("is refused once the requests of its key are used up", async () => {
      await using service = await serviceFor({ requestsPerMinute: 2 });
      const statuses: number[] = [];
      for (let i = 0; i < 3; i++) statuses.push((await service.ask(url, payload)).statusCode);
      assert.deepEqual(statuses, [200, 200, 429]);
    });

    it("takes its tokens before it is scored, so that requests at the same time do not all pass", async () => {
      await using service = await serviceFor({ tokensPerMinute: 1 });
      const replies = await Promise.all([1, 2, 3, 4].map(() => service.ask(url, payload)));
      const refused = replies.filter(({ body }) => body.includes("used up its tokens"));
      assert.equal(refused.length, 3);
    });

    it("is measured, logged and traced with its tokens", async () => {
      await using service = await serviceFor({});
      assert.equal((await service.ask(url, payload)).statusCode, 200);
      const tokens = await service.metric("decision_input_tokens_total");
      assert.ok(tokens > 0);
      const count = `decision_request_duration_seconds_count{operation="${operation}"}`;
      assert.equal(await service.metric(count), 1);
      assert.equal(await service.metric("decision_tokenize_duration_seconds_count"), 1);
      const line = service.log.entries.find(({ fields }) => fields.operation === operation);
      assert.equal(line?.fields.inputTokens, tokens);
      const [record] = service.traced;
      assert.equal(record?.inferences?.[0]?.inputTokens, tokens);
    });
  });
}

describe("a batch of MCP", () => {
  const calls = ["decide", "rank", "decide", "models"].map((name, id) =>
    toolCall(name, { decide: ASKED, rank: RANKED, models: {} }[name], id),
  );
  const textsOf = (body: string) =>
    JSON.parse(body).map(
      ({ result }: { result: { content: { text: string }[] } }) => result.content[0]?.text,
    );

  it("takes as many requests as it has calls", async () => {
    await using service = await serviceFor({ requestsPerMinute: 3 });
    const texts = textsOf((await service.ask("/mcp", calls)).body);
    assert.equal(texts.filter((text: string) => text.includes("used up its requests")).length, 1);
    assert.equal((await service.ask("/v1/rank", RANKED)).statusCode, 429);
  });

  it("takes the tokens of each call, and is measured with all of them", async () => {
    await using service = await serviceFor({ tokensPerMinute: 1 });
    const texts = textsOf((await service.ask("/mcp", calls)).body);
    assert.equal(texts.filter((text: string) => text.includes("used up its tokens")).length, 2);
    assert.equal(await service.metric("decision_tokenize_duration_seconds_count"), 1);
  });
});

describe("a caller that leaves", () => {
  it("has its tokens taken", async () => {
    let entered = () => {};
    const isEntered = new Promise<void>((resolve) => {
      entered = resolve;
    });
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const beforeForest = async () => {
      entered();
      await gate;
    };
    const engine = await createFastEngine(0, { beforeForest });
    const contract = await createContractFor(engine);
    const rates = new KeyRates({ tokensPerMinute: 1 });
    const leave = new AbortController();
    const body = Buffer.from(JSON.stringify(ASKED));
    const call = { operationId: "systemone", requestId: "r", body, account: new KeyAccount(rates) };
    const left = contract.call({ ...call, signal: leave.signal });
    await isEntered;
    leave.abort();
    await assert.rejects(left, { kind: "CANCELLED" });
    goOn();
    const { status } = await contract.call({ ...call, signal: new AbortController().signal });
    assert.equal(status, 429);
    await engine.close();
  });
});
