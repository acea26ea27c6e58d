/**
 * Measures how well relevance orders documents, on a running service, beside a plain ranking of the same documents.
 *
 *     node --import tsx scripts/measure/rerank.ts [--url http://127.0.0.1:8700] [--queries FILE] [--key KEY]
 *
 * FILE is JSON: an array of {query, answers, near, far}, lists of texts. Answers should come before all others. Printed are the
 * share of queries with an answer first, the mean reciprocal rank of the first answer, and the area under the receiver operating
 * characteristic over the documents of all queries: how often an answer to some query has more than another text for any query.
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { rootUrl } from "../root-url.ts";

interface Query {
  readonly query: string;
  readonly answers: readonly string[];
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
    queries: { type: "string", default: new URL("scripts/measure/rerank/queries.json", rootUrl).pathname },
    key: { type: "string" },
  },
});
const queries: readonly Query[] = JSON.parse(await readFile(flags.queries, "utf8"));
console.log(`${queries.length} queries`);
await measure("plain ranking", plainScores);
await measure("relevance", relevances);

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
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const first = mean(ranks.map((rank) => Number(rank === 1)));
  const reciprocal = mean(ranks.map((rank) => 1 / rank));
  const answers = scored.flatMap((one) => one.answers);
  const others = scored.flatMap((one) => one.others);
  const area = mean(answers.flatMap((a) => others.map((b) => (a > b ? 1 : a === b ? 0.5 : 0))));
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  console.log(
    `${name}: best first ${percent(first)}, mean reciprocal rank ${percent(reciprocal)}, area ${percent(area)}`,
  );
}

async function relevances(query: string, texts: readonly string[]): Promise<number[]> {
  const rows = await post("/rerank", { query, texts });
  const scores = texts.map(() => Number.NaN);
  for (const { index, score } of rows as { index: number; score: number }[]) scores[index] = score;
  return scores;
}

async function plainScores(query: string, texts: readonly string[]): Promise<number[]> {
  const { ranked } = (await post("/v1/rank", { state: query, candidates: texts })) as {
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
