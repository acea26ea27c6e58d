/**
 * Measures on a running service how well relevance orders documents, compared with a plain ranking of them.
 *
 *     node --import tsx tools/rerank.ts [--url http://127.0.0.1:8700] [--key KEY] [--queries FILE]
 *
 * --queries is JSON: an array of {query, answers, near, far}, lists of texts, where answers should come before all
 * others.
 *
 * The output has the share of queries with an answer first, the mean reciprocal rank of the first answer, the area
 * under the ROC curve over the documents of all queries (how often an answer to some query scores higher than a
 * non-answer of any query), and for probabilities the shares of answers above 0.5 and of other texts below.
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { rootUrl } from "../scripts/root-url.ts";

/** Longer texts are cut here. Chosen: in any language fewer tokens than a candidate of a plain ranking may have. */
const MOST_CHARACTERS = 700;

interface Query {
  readonly query: string;
  readonly answers: readonly string[];
  /** Texts on the same subject that do not answer the query. */
  readonly near: readonly string[];
  readonly far: readonly string[];
}

/** [documents] of one query, answers first. */
interface Scored {
  readonly answers: readonly number[];
  readonly others: readonly number[];
}

const { values: flags } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:8700" },
    queries: { type: "string", default: new URL("tools/rerank/queries.json", rootUrl).pathname },
    key: { type: "string" },
  },
});
const queries: readonly Query[] = JSON.parse(await readFile(flags.queries, "utf8"));
console.log(`${queries.length} queries`);
await measure("plain ranking", plainScores);
await measure("relevance as served", relevances);

async function measure(
  name: string,
  scoresOf: (query: string, texts: readonly string[]) => Promise<number[]>,
) {
  const scored: Scored[] = [];
  for (const { query, answers, near, far } of queries) {
    const scores = await scoresOf(query, [...answers, ...near, ...far]);
    scored.push({ answers: scores.slice(0, answers.length), others: scores.slice(answers.length) });
  }
  const ranks = scored.map(
    ({ answers, others }) => 1 + others.filter((other) => other >= Math.max(...answers)).length,
  );
  const first = mean(ranks.map((rank) => Number(rank === 1)));
  const reciprocal = mean(ranks.map((rank) => 1 / rank));
  const answers = scored.flatMap((one) => one.answers);
  const others = scored.flatMap((one) => one.others);
  const area = mean(answers.flatMap((a) => others.map((b) => (a > b ? 1 : a === b ? 0.5 : 0))));
  const isProbability = [...answers, ...others].every((score) => score >= 0 && score <= 1);
  const above = `answers above 0.5 ${percent(mean(answers.map((score) => Number(score > 0.5))))}, others below ${percent(mean(others.map((score) => Number(score < 0.5))))}`;
  console.log(
    `${name}: best first ${percent(first)}, mean reciprocal rank ${percent(reciprocal)}, area ${percent(area)}${isProbability ? `, ${above}` : ""}`,
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

async function relevances(query: string, texts: readonly string[]): Promise<number[]> {
  const rows = await post("/rerank", { query, texts });
  const scores = texts.map(() => Number.NaN);
  for (const { index, score } of rows as { index: number; score: number }[]) scores[index] = score;
  return scores;
}

async function plainScores(query: string, texts: readonly string[]): Promise<number[]> {
  const candidates = texts.map((text) => text.slice(0, MOST_CHARACTERS));
  const { ranked } = (await post("/v1/rank", { state: query, candidates })) as {
    ranked: { candidate: string; score: number }[];
  };
  const scores = texts.map(() => Number.NaN);
  for (const { candidate, score } of ranked) scores[Number(candidate)] = score;
  return scores;
}

async function post(path: string, body: object): Promise<unknown> {
  const answer = await fetch(flags.url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(flags.key === undefined ? {} : { authorization: `Bearer ${flags.key}` }),
    },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
