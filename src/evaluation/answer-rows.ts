import { createHash } from "node:crypto";
import { inOrder } from "../batch/in-order.ts";
import { type AnswerRows, answerRow } from "../batch/outcome.ts";
import type { Row } from "../batch/row.ts";
import { ServiceError } from "../errors.ts";
import type { JsonObject } from "../json/value.ts";
import { writeJson } from "../json/write.ts";
import type { RowError } from "./evaluation.ts";
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
  readonly errors: readonly RowError[];
  /** Evaluated answers by question and row number, in order. */
  readonly judged: ReadonlyMap<string, ReadonlyMap<number, Judged>>;
}

/** Twice as many rows as fill the model's queue. Bytes are not limited, since all rows are in memory anyway. */
const WINDOW = { rows: 256, bytes: Number.POSITIVE_INFINITY };

/**
 * Asks the questions for each row, several rows at a time.
 *
 * @param take receives the answers in the order of the rows
 * @returns the rows that could not be answered
 * @throws ServiceError as `answerRow`
 */
export async function askRows<Answer>(
  rows: readonly LabelledRow[],
  parts: AnswerRows<Answer>,
  take: (row: LabelledRow, answer: Answer) => void,
  onRow: (count: number) => void,
): Promise<readonly RowError[]> {
  const errors: RowError[] = [];
  let count = 0;
  const outcomes = inOrder(
    each(rows),
    async (labelled) => ({ labelled, answer: (await answerRow(labelled.row, parts)).answer }),
    () => 0,
    WINDOW,
  );
  for await (const { labelled, answer } of outcomes) {
    if (answer instanceof ServiceError)
      errors.push({ row: labelled.row.number, code: answer.code, message: answer.message });
    else take(labelled, answer);
    count += 1;
    onRow(count);
  }
  return errors;
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** Asks the questions for each row and compares the answers with the labels. @throws ServiceError as `answerRow` */
export async function answerRows(
  rows: readonly LabelledRow[],
  parts: AnswerRows,
  onRow: (count: number) => void,
): Promise<AnsweredRows> {
  const judged = new Map([...parts.questions.keys()].map((name) => [name, new Map<number, Judged>()]));
  let model = "";
  const take = ({ row, labels }: LabelledRow, answer: string) => {
    const body: ReadBody = JSON.parse(answer);
    model = body.model;
    const key = keyOf(row);
    for (const [name, truth] of labels)
      judged.get(name)?.set(row.number, judge(key, truth, body.answers[name], parts.questions, name));
  };
  const errors = await askRows(rows, parts, take, onRow);
  return { model, errors, judged };
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
