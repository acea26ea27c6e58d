import { setTimeout as wait } from "node:timers/promises";
import { inOrder } from "../../../batch/in-order.ts";
import { answerRow } from "../../../batch/outcome.ts";
import { invalidOption, ServiceError } from "../../../errors.ts";
import { keyOf, type LabelledRow } from "../../../evaluation/answer-rows.ts";
import type { RowError } from "../../../evaluation/evaluation.ts";
import { askedRow, rowLabels } from "../../../evaluation/labelled-row.ts";
import type { JsonObject } from "../../../json/value.ts";
import { createScorer, type QuestionScores, type Scorer } from "../../../library/index.ts";
import { readRemoteToken } from "../../../options/exposure.ts";
import type { ServiceOptions } from "../../../options/table.ts";
import { chooseTuning, type TuningChoice, type TuningKind } from "../../../tuning/fit/choose.ts";
import type { TuningRow } from "../../../tuning/fit/fit.ts";
import { compareTexts } from "../../../tuning/question-digest.ts";
import { TUNING_FORMAT, type TunedQuestion, type TuningFile } from "../../../tuning/tuning-file.ts";
import { terminalProgress } from "../../output/progress.ts";
import { checkFirst } from "../ask.ts";
import { stopOnSignals } from "./batch.ts";
import { checkLabels, type LabelledInput, probeOf, readRows } from "./labelled-rows.ts";

export interface TuneOptions extends LabelledInput {
  readonly questions: JsonObject;
  readonly options: ServiceOptions;
  /** Kinds of corrections to choose from. */
  readonly kinds: readonly TuningKind[];
  /** Whether to keep a correction that was not shown to be better. */
  readonly isForced: boolean;
}

/** The corrections that were fitted. */
export interface Tuned {
  readonly model: string;
  readonly precision: string;
  /** Rows of the input, and how many of them could not be scored. */
  readonly rows: number;
  readonly errors: readonly RowError[];
  readonly questions: readonly TunedReport[];
  /** Undefined if there is nothing to keep. */
  readonly file: TuningFile | undefined;
}

export interface TunedReport {
  readonly name: string;
  /** Undefined if the rows are not sufficient. */
  readonly choice: TuningChoice | undefined;
  readonly isKept: boolean;
  /** Notes for the user, as sentences. */
  readonly notes: readonly string[];
}

/**
 * Fits corrections to labelled rows. All rows are held in memory.
 *
 * @throws ServiceError INVALID_OPTION | INVALID_REQUEST (the questions), both before a model is loaded | CANCELLED (a
 * signal) |
 *         errors that end a batch
 */
export async function tune(given: TuneOptions): Promise<Tuned> {
  const { questions, options, kinds } = given;
  const stop = stopOnSignals();
  try {
    await checkFirst("systemone", probeOf(questions), { options });
    const read = await readRows(given, stop.signal);
    const names = [...questions.keys()];
    const rows = read.map((row): LabelledRow => {
      return { row: askedRow(row, given.place, names), labels: rowLabels(row, questions) };
    });
    checkLabels(rows, questions);
    const { host, port, ...ofModel } = options;
    const remoteToken = readRemoteToken(process.env);
    const scorer = await createScorer({ ...ofModel, remoteToken }, { hasVectors: kinds.includes("head") });
    try {
      const scored = await scoreRows(scorer, rows, questions, stop.signal);
      const found = names.map((name, at) => tuneQuestion(name, at, scored.rows, scorer, given));
      const kept = found.flatMap(({ tuned }) => tuned ?? []);
      const { id: model } = scorer.model;
      const { precision } = scorer;
      return {
        model,
        precision,
        rows: rows.length,
        errors: scored.errors,
        questions: found.map(({ report }) => report),
        file: kept.length === 0 ? undefined : { format: TUNING_FORMAT, model, precision, questions: kept },
      };
    } finally {
      await scorer.close();
    }
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    stop.dispose();
  }
}

interface ScoredRow {
  readonly key: string;
  readonly labels: ReadonlyMap<string, string>;
  /** In the order of the questions. */
  readonly scores: readonly QuestionScores[];
}

/** Chosen: twice as many rows as fill the model's queue. */
const WINDOW = { rows: 256, bytes: Number.POSITIVE_INFINITY };

async function scoreRows(
  scorer: Scorer,
  rows: readonly LabelledRow[],
  questions: JsonObject,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly ScoredRow[]; readonly errors: readonly RowError[] }> {
  const progress = terminalProgress(process.stderr);
  const found: ScoredRow[] = [];
  const errors: RowError[] = [];
  let count = 0;
  const outcomes = inOrder(
    each(rows),
    async ({ row, labels }) => {
      let scores: readonly QuestionScores[] = [];
      const ask = async (body: string) => {
        scores = await scorer.score(body, { signal });
        return "";
      };
      const pause = (ms: number) => wait(ms, undefined, { signal });
      const { answer } = await answerRow(row, { ask, questions, wait: pause });
      return { row, labels, answer, scores };
    },
    () => 0,
    WINDOW,
  );
  try {
    for await (const { row, labels, answer, scores } of outcomes) {
      if (answer instanceof ServiceError)
        errors.push({ row: row.number, code: answer.code, message: answer.message });
      else found.push({ key: keyOf(row), labels, scores });
      count += 1;
      progress.show(`${count} of ${rows.length} rows`);
    }
  } finally {
    progress.clear();
  }
  return { rows: found, errors };
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

function tuneQuestion(
  name: string,
  at: number,
  scored: readonly ScoredRow[],
  scorer: Scorer,
  { kinds, isForced }: TuneOptions,
): { readonly report: TunedReport; readonly tuned?: TunedQuestion } {
  const [first] = scored.flatMap(({ scores }) => scores[at] ?? []);
  const labels = [...(first?.labels ?? [])].sort(compareTexts);
  const rows = scored.flatMap(({ key, labels: given, scores }) => {
    const [truth, own] = [given.get(name), scores[at]];
    return truth === undefined || own === undefined ? [] : [tuningRow(key, labels, truth, own)];
  });
  const left = (note: string) => ({ report: { name, choice: undefined, isKept: false, notes: [note] } });
  if (first === undefined || rows.length === 0) return left("No labelled row could be scored.");
  const [label, ...others] = new Set(rows.map(({ truth }) => labels[truth]));
  if (others.length === 0)
    return left(`All rows have the label ${JSON.stringify(label)}: rows of at least two labels are needed.`);
  const hasVectors = first.vectors !== undefined;
  if (!hasVectors && !kinds.includes("scale"))
    throw invalidOption(
      "--kind head needs a model that returns vectors; models with their own ONNX graph do not.",
    );
  const allowed = hasVectors ? kinds : kinds.filter((kind) => kind !== "head");
  const choice = chooseTuning(rows, scorer.model.temperature, allowed);
  const isKept = choice.isBetter || isForced;
  const report = { name, choice, isKept, notes: notesOn(choice, labels, rows) };
  if (!isKept) return { report };
  const { kind, fitted, folds, before, after } = choice;
  const measured = { rows: rows.length, folds, before, after };
  return {
    report,
    tuned: { name, form: first.form, question: first.digest, kind, labels, ...fitted, measured },
  };
}

function tuningRow(
  key: string,
  labels: readonly string[],
  truth: string,
  { labels: asked, scores, vectors }: QuestionScores,
): TuningRow {
  const places = labels.map((label) => asked.indexOf(label));
  const size = (vectors?.length ?? 0) / asked.length;
  return {
    key,
    truth: labels.indexOf(truth),
    scores: Float32Array.from(places, (place) => scores[place] ?? Number.NaN),
    vectors:
      vectors &&
      Float32Array.from({ length: vectors.length }, (_, i) => {
        const place = places[Math.floor(i / size)] ?? 0;
        return vectors[place * size + (i % size)] ?? Number.NaN;
      }),
  };
}

/**
 * Labels with fewer rows are reported. Chosen: below ten, one row changes recall by more than ten percentage points.
 */
const FEW_ROWS = 10;

function notesOn(
  { folds, gain, isBetter }: TuningChoice,
  labels: readonly string[],
  rows: readonly TuningRow[],
) {
  const notes: string[] = [];
  const count = (label: string) => rows.filter(({ truth }) => labels[truth] === label).length;
  const rare = labels.filter((label) => count(label) < FEW_ROWS).map((label) => `${label} (${count(label)})`);
  if (folds === 0) notes.push("Too few rows: cross-validation needs at least 20 different states.");
  else if (gain.mean <= 0) notes.push("The correction does not improve the held-out rows.");
  else if (!isBetter) notes.push("The gain is not statistically significant; more rows may show it.");
  if (rare.length > 0) notes.push(`Labels with fewer than ${FEW_ROWS} rows: ${rare.join(", ")}.`);
  return notes;
}
