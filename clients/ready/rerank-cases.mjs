// What the programs for rerank clients for Node share.
import assert from "node:assert/strict";
import { assertClose, plain } from "./ready.mjs";

export const QUERY = "What is the capital of the United States?";
export const DOCUMENTS = [
  "Carson City is the capital city of the American state of Nevada.",
  "Washington, D.C. is the capital of the United States. It is a federal district.",
  "Bread is made of flour, water, salt and yeast.",
  "Washington, D.C. is the capital of the United States. It is a federal district.",
];

/** The relevance of a document as the plain contract gives it. */
export async function relevance(document) {
  const { ranked } = await plain("/v1/rank", {
    state: `Passage: ${document}`,
    question: "Which question does the passage answer?",
    candidates: [QUERY, "None of these questions."],
  });
  return ranked.find(({ candidate }) => candidate === "0").probability;
}

/** Checks [index, relevance] pairs: best first, each the plain contract's number. */
export async function assertRows(rows, documents = DOCUMENTS) {
  const scores = rows.map(([, score]) => score);
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => b - a),
  );
  for (const [index, score] of rows) assertClose(score, await relevance(documents[index]), 1e-12);
}
