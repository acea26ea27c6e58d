import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createScorer, type QuestionScores } from "../../../src/library/index.ts";
import type { LabelledSet } from "./sets.ts";

/** The model's output for the rows of a set. */
export interface CollectedSet {
  readonly model: string;
  readonly temperature: number;
  readonly labels: readonly string[];
  /** [rows] position of the right label */
  readonly truths: readonly number[];
  readonly scores: Float32Array; // [rows, labels]
  readonly vectors: Float32Array; // [rows, labels, size]
}

/** Scores and vectors, read from the folder if they were collected before. */
export async function collect(set: LabelledSet, folder: string): Promise<CollectedSet> {
  const file = (name: string) => path.join(folder, `${set.name}.${name}`);
  const floats = async (name: string) => new Float32Array((await readFile(file(name))).buffer.slice(0));
  try {
    const facts = JSON.parse(await readFile(file("json"), "utf8"));
    return { ...facts, scores: await floats("scores"), vectors: await floats("vectors") };
  } catch {
    // not collected yet
  }
  const collected = await ask(set);
  const { scores, vectors, ...facts } = collected;
  await writeFile(file("scores"), scores);
  await writeFile(file("vectors"), vectors);
  await writeFile(file("json"), JSON.stringify(facts));
  return collected;
}

async function ask({ name, question, rows }: LabelledSet): Promise<CollectedSet> {
  const scorer = await createScorer({ deadlineMs: 600_000 }, { hasVectors: true });
  try {
    const startedAt = performance.now();
    const found = await Promise.all(
      rows.map(async ({ state, label }) => {
        const body = JSON.stringify({ state, questions: { question } });
        const [scored] = await scorer.score(body).catch((): QuestionScores[] => []); // the state is too long
        return scored?.vectors === undefined ? [] : [{ ...scored, vectors: scored.vectors, label }];
      }),
    );
    const scored = found.flat();
    const labels = scored[0]?.labels ?? [];
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    console.error(`${name}: ${scored.length} of ${rows.length} rows scored in ${seconds} s`);
    return {
      model: scorer.model.id,
      temperature: scorer.model.temperature,
      labels,
      truths: scored.map(({ label }) => labels.indexOf(label)),
      scores: concatenated(scored.map(({ scores }) => scores)),
      vectors: concatenated(scored.map(({ vectors }) => vectors)),
    };
  } finally {
    await scorer.close();
  }
}

function concatenated(rows: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(rows.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const row of rows) {
    all.set(row, at);
    at += row.length;
  }
  return all;
}
