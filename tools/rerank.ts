/**
 * Measures on a running service how well relevance orders documents, compared with a plain ranking of them.
 *
 *     node --import tsx tools/rerank.ts [--url http://127.0.0.1:8700] [--key KEY] [--queries FILE]
 *
 * --queries is JSON: an array of {query, answers, near, far}, lists of texts, where answers should come before all
 * others.
 *
 * The output has the share of queries with an answer first, and for probabilities the shares of answers above 0.5 and
 * of other texts below.
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
  const first = scored.map(({ answers, others }) => Math.max(...answers) > Math.max(...others));
  const answers = scored.flatMap((one) => one.answers);
  const others = scored.flatMap((one) => one.others);
  const figures = [`best first ${percent(first)}`];
  if ([...answers, ...others].every((score) => score >= 0 && score <= 1)) {
    figures.push(`answers above 0.5 ${percent(answers.map((score) => score > 0.5))}`);
    figures.push(`others below ${percent(others.map((score) => score < 0.5))}`);
  }
  console.log(`${name}: ${figures.join(", ")}`);
}

/** The share that is so. */
function percent(values: readonly boolean[]): string {
  return `${((100 * values.filter(Boolean).length) / values.length).toFixed(1)} %`;
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
