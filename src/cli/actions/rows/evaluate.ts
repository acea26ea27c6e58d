import { setTimeout as wait } from "node:timers/promises";
import { invalidOption } from "../../../errors.ts";
import {
  type AnsweredRows,
  answerRows,
  dataDigest,
  digest,
  type LabelledRow,
} from "../../../evaluation/answer-rows.ts";
import type { CheckResult, Evaluation } from "../../../evaluation/evaluation.ts";
import { askedRow, labelsOf, rowLabels } from "../../../evaluation/labelled-row.ts";
import { reportQuestion } from "../../../evaluation/question-report.ts";
import { compare } from "../../../evaluation/statistics/comparison.ts";
import type { Judged } from "../../../evaluation/statistics/judged.ts";
import { check, type ThresholdFile, thresholdFile } from "../../../evaluation/threshold-file.ts";
import type { JsonObject } from "../../../json/value.ts";
import { writeJson } from "../../../json/write.ts";
import { checkTuning } from "../../../library/index.ts";
import { terminalProgress } from "../../output/progress.ts";
import { checkFirst, openTarget, type Target } from "../ask.ts";
import { stopOnSignals } from "./batch.ts";
import { checkLabels, type LabelledInput, probeOf, readRows } from "./labelled-rows.ts";

/** Questions, and what answers them. */
export interface Asked {
  readonly questions: JsonObject;
  readonly target: Target;
}

export interface EvaluateOptions extends Asked, LabelledInput {
  /** Target accuracy of the thresholds. */
  readonly accuracy: number;
  readonly check?:
    | { readonly name: string; readonly file: ThresholdFile; readonly tolerance: number }
    | undefined;
  readonly other?: Asked | undefined;
}

export interface Evaluated {
  readonly evaluation: Evaluation;
  readonly thresholds: ThresholdFile;
}

/**
 * Answers labelled rows and compares the answers with the labels. All rows are held in memory.
 *
 * @throws ServiceError INVALID_OPTION | INVALID_REQUEST (the questions), both before a model is loaded | CANCELLED (a
 * signal) |
 *         errors that end a batch
 */
export async function evaluate(options: EvaluateOptions): Promise<Evaluated> {
  const { questions, other, accuracy } = options;
  const stop = stopOnSignals();
  try {
    const pairs = other === undefined ? [] : pairsOf(questions, other.questions);
    checkNames(options);
    for (const asked of other === undefined ? [options] : [options, other])
      await checkFirst("systemone", probeOf(asked.questions), asked.target);
    if (other !== undefined && other.target !== options.target && "options" in other.target)
      await checkTuning(other.target.options, "--compare-tuning");
    const rows = await readRows(options, stop.signal);
    const names = [...questions.keys(), ...(other?.questions.keys() ?? [])];
    const labelled = (of: JsonObject): LabelledRow[] =>
      rows.map((row) => ({ row: askedRow(row, options.place, names), labels: rowLabels(row, of) }));
    const firstRows = labelled(questions);
    const otherRows = other && labelled(other.questions);
    checkLabels(firstRows, questions);
    if (other && otherRows) checkLabels(otherRows, new Map(pairs.map(([, name]) => [name, null])));

    const first = await answer(options, firstRows, stop.signal);
    const second = other && otherRows && (await answer(other, otherRows, stop.signal));
    const judged = (name: string) => [...(first.judged.get(name)?.values() ?? [])];
    const digests = (name: string) => ({
      data: dataDigest(judged(name)),
      question: digest(writeJson(questions.get(name))),
    });
    const reports = [...questions].map(([name, question]) => {
      if (judged(name).length === 0) throw noAnswer(name, first);
      return reportQuestion(name, judged(name), labelsOf(question), accuracy);
    });
    const evaluation: Evaluation = {
      model: first.model,
      rows: rows.length,
      errors: [...first.errors, ...(second?.errors ?? [])].map(({ row, error }) => ({
        row,
        code: error.code,
        message: error.message,
      })),
      questions: reports,
      comparison: second && {
        model: second.model,
        questions: pairs.map(([a, b]) => compare(a, b, paired(first, a, second, b))),
      },
      check: checkAll(options, judged, digests),
    };
    return { evaluation, thresholds: thresholdFile(first.model, accuracy, reports, digests) };
  } finally {
    stop.dispose();
  }
}

/** Pairs of questions with the same name, or the only question of each file. @throws ServiceError INVALID_OPTION */
function pairsOf(first: JsonObject, second: JsonObject): (readonly [string, string])[] {
  const shared = [...first.keys()].filter((name) => second.has(name));
  if (shared.length > 0) return shared.map((name) => [name, name]);
  const [[a = ""], [b = ""]] = [[...first.keys()], [...second.keys()]];
  if (first.size === 1 && second.size === 1) return [[a, b]];
  throw invalidOption(
    "--compare: expected questions with the same names, or one question in each file, got others.",
  );
}

/**
 * @throws ServiceError INVALID_OPTION if a question of the file is missing: a renamed question must not pass unchecked
 */
function checkNames({ check: against, questions }: EvaluateOptions): void {
  const missing = against?.file.questions.find(({ name }) => !questions.has(name));
  if (missing !== undefined)
    throw invalidOption(
      `--check: --questions lacks ${JSON.stringify(missing.name)}, which the threshold file contains.`,
    );
}

async function answer(
  { questions, target }: Asked,
  rows: readonly LabelledRow[],
  signal: AbortSignal,
): Promise<AnsweredRows> {
  const decider = await openTarget(target);
  const progress = terminalProgress(process.stderr);
  const ask = (body: string) => decider.ask("systemone", body, { signal });
  try {
    signal.throwIfAborted();
    await ask(probeOf(questions)); // a service may have lower limits, and token limits are checked only here
    const pause = (ms: number) => wait(ms, undefined, { signal });
    return await answerRows(rows, { ask, questions, wait: pause }, (count) =>
      progress.show(`${count} of ${rows.length} rows`),
    );
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    progress.clear();
    await decider.close();
  }
}

function noAnswer(name: string, { errors }: AnsweredRows) {
  const [first] = errors;
  const why = first === undefined ? "" : ` Row ${first.row}: ${first.error.message}`;
  return invalidOption(`--input: no labelled row of ${JSON.stringify(name)} could be answered.${why}`);
}

/** Rows answered by both. */
function paired(first: AnsweredRows, a: string, second: AnsweredRows, b: string) {
  return [...(first.judged.get(a) ?? [])].flatMap(([row, one]) => {
    const other = second.judged.get(b)?.get(row);
    return other === undefined ? [] : [{ first: one, second: other }];
  });
}

function checkAll(
  { check: against, questions }: EvaluateOptions,
  judged: (name: string) => readonly Judged[],
  digests: (name: string) => { readonly data: string; readonly question: string },
): CheckResult | undefined {
  if (against === undefined) return undefined;
  const { file, name: fileName, tolerance } = against;
  const checks = [...questions.keys()].map((name) => {
    const before = file.questions.find((one) => one.name === name);
    return check(name, before, judged(name), digests(name), tolerance);
  });
  const isWorse = checks.some((one) => one.isWorse);
  return { file: fileName, model: file.model, tolerance, isWorse, questions: checks };
}
