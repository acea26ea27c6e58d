import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createFastEngine } from "../../packages/conformance/test/fast-engine.ts";
import { createApp } from "../../src/app.ts";
import { checkOf } from "../contract/response-check.ts";
import { MARK, words } from "./service.ts";

const KEY = "the-key";
const silent = () => {};
const LOG = { debug: silent, info: silent, warn: silent, error: silent };
const check = checkOf("rerank");
const OPERATIONS = {
  "/v2/rerank": "cohereRerank",
  "/v1/rerank": "jinaRerank",
  "/rerank": "teiRerank",
} as const;
type Path = keyof typeof OPERATIONS;
const PATHS = Object.keys(OPERATIONS) as readonly Path[];
const TEXTS = { "/v2/rerank": "documents", "/v1/rerank": "documents", "/rerank": "texts" } as const;
const SAYS = { "/v2/rerank": "message", "/v1/rerank": "detail", "/rerank": "error" } as const;

const engine = await createFastEngine();
const app = await createApp(engine, {
  apiKey: KEY,
  log: LOG,
  maxConnections: 100,
  headersTimeoutMs: 20_000,
  bodyMemoryMb: 64,
  typesafeAlias: [],
});
after(async () => {
  await app.close();
  await engine.close();
});

interface Row {
  readonly index: number;
  readonly score: number;
  readonly text?: string;
}

/** Asks; the answer fits the document, and no error repeats a value. */
async function post(url: Path, payload: object, authorization: string | undefined = `Bearer ${KEY}`) {
  const answer = await app.inject({
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...(authorization === "" ? {} : { authorization }) },
    payload: JSON.stringify(payload),
  });
  const body = answer.json();
  check(OPERATIONS[url], answer.statusCode, answer.headers, body);
  if (answer.statusCode !== 200) assert.ok(!answer.body.includes(MARK), answer.body);
  return { status: answer.statusCode, headers: answer.headers, body };
}

/** The results of a request that must succeed, in one form for all three. */
async function rerank(
  url: Path,
  query: string,
  texts: readonly unknown[],
  more: object = {},
): Promise<readonly Row[]> {
  const { status, body } = await post(url, { query, [TEXTS[url]]: texts, ...more });
  assert.equal(status, 200, JSON.stringify(body));
  if (url === "/rerank") return body;
  // biome-ignore lint/suspicious/noExplicitAny: checked against the document
  return body.results.map(({ index, relevance_score, document }: any) => ({
    index,
    score: relevance_score,
    ...(document === undefined ? {} : { text: document.text }),
  }));
}

async function plainRelevance(query: string, document: string): Promise<number> {
  const answer = await app.inject({
    method: "POST",
    url: "/v1/rank",
    headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
    payload: JSON.stringify({
      state: `Passage: ${document}`,
      question: "Which question does the passage answer?",
      candidates: [query, "None of these questions."],
    }),
  });
  assert.equal(answer.statusCode, 200, answer.body);
  const row = answer.json().ranked.find(({ candidate }: { candidate: string }) => candidate === "0");
  return row.probability;
}

const QUERY = "Where is Rome?";
const DOCUMENTS = ["Rome is in Italy.", "Bread needs yeast.", "Paris is in France.", "Rome has seven hills."];

for (const url of PATHS) {
  describe(url, () => {
    it("gives each document the relevance that the plain contract gives, best first", async () => {
      const rows = await rerank(url, QUERY, DOCUMENTS);
      assert.equal(rows.length, DOCUMENTS.length);
      for (const { index, score } of rows)
        assert.equal(score, await plainRelevance(QUERY, DOCUMENTS[index] ?? ""));
      assert.deepEqual(
        rows.map(({ score }) => score),
        rows.map(({ score }) => score).sort((a, b) => b - a),
      );
    });

    it("refuses what it must", async () => {
      const texts = TEXTS[url];
      const cases: readonly [string, object, RegExp][] = [
        ["no query", { [texts]: ["a"] }, /query: Expected the member/],
        ["a query of another type", { query: 1, [texts]: ["a"] }, /query: Expected a string, got a number/],
        ["a blank query", { query: " ", [texts]: ["a"] }, /query: Expected a text, got a blank one/],
        [
          "a long query",
          { query: words(900), [texts]: ["a"] },
          /query: Expected at most 704 tokens, got 900/,
        ],
        ["no documents", { query: QUERY, [texts]: [] }, /at least 1 element/],
        [
          "too many",
          { query: QUERY, [texts]: Array.from({ length: 1_001 }, () => "a") },
          /at most 1000 elements/,
        ],
        ["a number", { query: QUERY, [texts]: [MARK, 3] }, /1: .*string.* a number/],
      ];
      for (const [name, payload, said] of cases) {
        const { status, body } = await post(url, payload);
        assert.equal(status, 422, name);
        assert.match(body[SAYS[url]], said, name);
      }
    });
  });
}

describe("TEI's rerank", () => {
  it("names the paths for requests with documents", async () => {
    const { status, body } = await post("/rerank", { query: QUERY, documents: ["a"], top_n: 1 });
    assert.equal(status, 422);
    assert.match(body.error, /texts: Expected the member "texts".* \/v1\/rerank .* \/v2\/rerank/);
  });
});
