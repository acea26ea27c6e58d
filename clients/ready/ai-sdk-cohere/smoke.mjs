// The AI SDK's rerank through @ai-sdk/cohere: texts and objects, an error, a wrong key, a full queue, timeouts.
import assert from "node:assert/strict";
import { check, fullUrl, key, load, report, slowUrl, url } from "../ready.mjs";
import { assertRows, DOCUMENTS, QUERY } from "../rerank-cases.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false; // it says that objects become texts
const { rerank } = await load("ai");
const { createCohere } = await load("@ai-sdk/cohere");
const model = (baseURL = url, apiKey = key) => createCohere({ baseURL, apiKey }).reranking("rerank-v3.5");
const request = { model: model(), query: QUERY, documents: DOCUMENTS, maxRetries: 0 };
const rows = ({ ranking }) => ranking.map(({ originalIndex, score }) => [originalIndex, score]);

await check("rerank", async () => {
  const answer = await rerank(request);
  assert.equal(answer.ranking.length, 4);
  await assertRows(rows(answer));
});
await check("the best two", async () => {
  const answer = await rerank({
    ...request,
    topN: 2,
    providerOptions: { cohere: { maxTokensPerDoc: 500, priority: 1 } },
  });
  assert.deepEqual(answer.rerankedDocuments, [DOCUMENTS[1], DOCUMENTS[3]]);
});
await check("objects", async () => {
  const documents = [{ name: "kettle" }, { name: "Washington", is: "the capital of the United States" }];
  const answer = await rerank({ ...request, documents });
  await assertRows(
    rows(answer),
    documents.map((document) => JSON.stringify(document)),
  );
});
for (const [name, changes, status, said] of [
  ["an error", { query: " " }, 422, /got a blank one/],
  ["a wrong key", { model: model(url, "wrong") }, 401, /valid key/],
  ["a full queue", { model: model(fullUrl) }, 503, /queue is full/],
  ["a timeout of the service", { model: model(slowUrl) }, 504, /deadline/],
]) {
  await check(name, () =>
    assert.rejects(rerank({ ...request, ...changes }), (error) => {
      assert.equal(error.statusCode, status, String(error));
      assert.match(error.message, said);
      return true;
    }),
  );
}
await check("a timeout of the client", () =>
  assert.rejects(
    rerank({ ...request, model: model(slowUrl), abortSignal: AbortSignal.timeout(50) }),
    /abort|timeout/i,
  ),
);
report();
