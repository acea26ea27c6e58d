// Cohere's client for JavaScript: its rerank, an error, a wrong key, a full queue, timeouts.
import assert from "node:assert/strict";
import { check, fullUrl, key, load, report, slowUrl, url } from "../ready.mjs";
import { assertRows, DOCUMENTS, QUERY } from "../rerank-cases.mjs";

const { CohereClientV2, CohereError } = await load("cohere-ai");
const client = (environment = url, token = key) => new CohereClientV2({ environment, token });
const request = { model: "rerank-v3.5", query: QUERY, documents: DOCUMENTS };
const rows = ({ results }) => results.map(({ index, relevanceScore }) => [index, relevanceScore]);
const ONCE = { maxRetries: 0 };

await check("rerank", async () => {
  const answer = await client().rerank(request);
  assert.equal(answer.results.length, 4);
  assert.ok(answer.id);
  assert.equal(answer.meta.apiVersion.version, "2");
  await assertRows(rows(answer));
});
await check("top_n and a cut", async () => {
  const answer = await client().rerank({ ...request, topN: 2, maxTokensPerDoc: 5 });
  assert.equal(answer.results.length, 2);
  assert.match(answer.meta.warnings[0], /cut as requested/);
});
await check("1,000 documents", async () => {
  const documents = Array.from({ length: 1000 }, (_, at) => DOCUMENTS[at % 4]);
  assert.equal((await client().rerank({ ...request, documents })).results.length, 1000);
});
for (const [name, call, status, said] of [
  ["an error", () => client().rerank({ ...request, query: " " }), 422, /got a blank one/],
  ["a wrong key", () => client(url, "wrong").rerank(request), 401, /valid key/],
  ["a full queue", () => client(fullUrl).rerank(request, ONCE), 503, /queue is full/],
  ["a timeout of the service", () => client(slowUrl).rerank(request, ONCE), 504, /deadline/],
]) {
  await check(name, () =>
    assert.rejects(call(), (error) => {
      assert.ok(error instanceof CohereError, String(error));
      assert.equal(error.statusCode, status);
      assert.match(error.body.message, said);
      return true;
    }),
  );
}
await check("a timeout of the client", () =>
  assert.rejects(client(slowUrl).rerank(request, { ...ONCE, timeoutInSeconds: 0.05 }), /timeout/i),
);
report();
