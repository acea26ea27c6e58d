import { createHash } from "node:crypto";
import { inOrder } from "../batch/in-order.ts";
import { type AnswerRows, answerRow } from "../batch/outcome.ts";
import type { Row } from "../batch/row.ts";
import { ServiceError } from "../errors.ts";
import type { JsonObject } from "../json/value.ts";
import { writeJson } from "../json/write.ts";
import { labelsOf } from "./labelled-row.ts";
import type { Judged } from "./statistics/judged.ts";

/** A row with its labels by question. */
export interface LabelledRow {
  readonly row: Row;
  /** Labels by question. A question without a label is not evaluated on this row. */
  readonly labels: ReadonlyMap<string, string>;
}

export interface AnsweredRows {
  readonly model: string;
  /** Rows with an error, and the first of them. */
  readonly errors: readonly { readonly row: number; readonly error: ServiceError }[];
  /** Evaluated answers by question and row number, in order. */
  readonly judged: ReadonlyMap<string, ReadonlyMap<number, Judged>>;
}

/** Twice as many rows as fill the model's queue. Bytes are not limited, since all rows are in memory anyway. */
const WINDOW = { rows: 256, bytes: Number.POSITIVE_INFINITY };

/**
 * Answers the questions for each row and compares the answers with the labels.
 *
 * @throws ServiceError as `answerRow`
 */
export async function answerRows(
  rows: readonly LabelledRow[],
  parts: AnswerRows,
  onRow: (count: number) => void,
): Promise<AnsweredRows> {
  const judged = new Map([...parts.questions.keys()].map((name) => [name, new Map<number, Judged>()]));
  const errors: { row: number; error: ServiceError }[] = [];
  let model = "";
  let count = 0;
  const outcomes = inOrder(
    each(rows),
    async ({ row, labels }) => ({ ...(await answerRow(row, parts)), labels }),
    () => 0,
    WINDOW,
  );
  for await (const { row, answer, labels } of outcomes) {
    if (answer instanceof ServiceError) errors.push({ row: row.number, error: answer });
    else {
      const body: ReadBody = JSON.parse(answer);
      model = body.model;
      const key = keyOf(row);
      for (const [name, truth] of labels)
        judged.get(name)?.set(row.number, judge(key, truth, body.answers[name], parts.questions, name));
    }
    count += 1;
    onRow(count);
  }
  return { model, errors, judged };
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

interface ReadBody {
  readonly model: string;
  readonly answers: Readonly<Record<string, ReadAnswer>>;
}

interface ReadAnswer {
  readonly choice?: string;
  readonly noul?: number;
  readonly score?: number;
  readonly confidence: number;
  readonly probabilities: Readonly<Record<string, number>>;
}

function judge(
  key: string,
  truth: string,
  answer: ReadAnswer | undefined,
  questions: JsonObject,
  name: string,
): Judged {
  if (answer === undefined)
    throw new ServiceError("BACKEND_FAILED", "The answer lacks one of the questions.");
  const predicted = decided(answer, labelsOf(questions.get(name)));
  return { key, truth, predicted, confidence: answer.confidence, expectedLevel: answer.score };
}

/** The most probable label. For a score too, although its answer is an expected level between labels. */
function decided({ choice, noul, probabilities }: ReadAnswer, labels: readonly string[]): string {
  if (choice !== undefined) return choice;
  if (noul !== undefined) return String(noul >= 0.5);
  return labels.reduce((best, label) =>
    (probabilities[label] ?? 0) > (probabilities[best] ?? 0) ? label : best,
  );
}

/** A digest of the state, equal for rows with the same state. */
export const keyOf = ({ state }: Row) => digest(state instanceof ServiceError ? "" : writeJson(state));

/** A digest of the evaluated rows and their labels, independent of their order. */
export function dataDigest(rows: Iterable<Judged>): string {
  return digest(
    [...rows]
      .map(({ key, truth }) => writeJson([key, truth]))
      .sort()
      .join("\n"),
  );
}

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
