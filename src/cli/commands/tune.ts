import { Flags } from "@oclif/core";
import { invalidOption } from "../../errors.ts";
import { askRows, keyOf } from "../../evaluation/answer-rows.ts";
import type { RowError } from "../../evaluation/evaluation.ts";
import { errorsText, percent } from "../../evaluation/figures-text.ts";
import type { JsonObject } from "../../json/value.ts";
import { createScorer, type QuestionScores, type Scorer } from "../../library/index.ts";
import { readRemoteToken } from "../../options/exposure.ts";
import type { ServiceOptions } from "../../options/table.ts";
import { chooseTuning, type TuningChoice, type TuningKind } from "../../tuning/fit/choose.ts";
import type { TuningRow } from "../../tuning/fit/fit.ts";
import { compareTexts } from "../../tuning/question-digest.ts";
import { TUNING_FORMAT, type TunedQuestion, type TuningFile } from "../../tuning/tuning-file.ts";
import { optionFlags } from "../option-flags.ts";
import { checkWritable, writeOutput } from "../output/output-file.ts";
import { plainLine } from "../output/plain-text.ts";
import { readQuestions } from "../questions-file.ts";
import {
  inputOf,
  LABELLED_ROWS_FLAGS,
  type LabelledInput,
  labelled,
  probeOf,
  RowsCommand,
  readRows,
  withProgress,
} from "../rows.ts";
import { stopOnSignals } from "../stop.ts";
import { checkFirst } from "../target.ts";

export default class Tune extends RowsCommand {
  static override summary = "Fit a correction of the model's scores to labelled rows.";
  static override description =
    "Compares by cross-validation: no correction; a scale and a bias for each label; these and a linear head. For each question it " +
    "writes the best correction, if it is better on rows that it was not fitted to. `decision serve --tuning` applies the corrections " +
    "to these questions only.\n" +
    "Exit code: 0 a correction was written, 1 none was written or a row could not be scored, 2 wrong usage. docs/tuning.md says how " +
    "many rows are needed.";
  static override examples = [
    "<%= config.bin %> tune --questions questions.json --input labelled.jsonl --output tuning.json",
    "<%= config.bin %> tune --questions questions.json --input labelled.csv --state-field text --kind scale --output tuning.json",
    "<%= config.bin %> serve --tuning tuning.json",
  ];
  static override flags = {
    ...LABELLED_ROWS_FLAGS,
    output: Flags.string({
      required: true,
      helpValue: "<file.json>",
      description: "file for the corrections; an existing file is replaced",
    }),
    kind: Flags.string({
      default: "auto",
      options: ["auto", "scale", "head"],
      helpValue: "auto|scale|head",
      description:
        "scale: a scale and a bias for each label; head: these and a linear head; auto: the better one",
    }),
    force: Flags.boolean({ description: "also write corrections that were not shown to be better" }),
    json: Flags.boolean({ description: "print the figures as JSON" }),
    ...optionFlags(["model", "modelPath", "backend", "device", "precision"]),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Tune);
    // no tuning: corrections are fitted to the model's own scores
    const options = await this.options({ ...flags, tuning: [] });
    this.files = [flags.questions];
    const input = inputOf(flags);
    const questions = await readQuestions(flags.questions);
    await checkWritable("--output", flags.output);
    const result = await tune({
      questions,
      options,
      ...input,
      kinds: flags.kind === "scale" ? ["scale"] : flags.kind === "head" ? ["head"] : ["scale", "head"],
      isForced: flags.force,
    });
    if (result.file !== undefined)
      await writeOutput("--output", flags.output, `${JSON.stringify(result.file)}\n`);
    if (flags.json) this.log(JSON.stringify(jsonOf(result)));
    else {
      this.log(`${tuningText(result)}\n\n${this.#outcome(result, flags.output)}`);
    }
    if (result.file === undefined || result.errors.length > 0) this.exit(1);
  }

  #outcome({ file, questions }: Tuned, output: string): string {
    const left = questions.filter(({ isKept }) => !isKept).length;
    if (file === undefined)
      return "Nothing is written: no correction is shown to be better. --force writes it all the same.";
    const skipped = left === 0 ? "" : ` ${left} of ${questions.length} questions are left out.`;
    return `Written to ${plainLine(output)}.${skipped} Serve it with: decision serve --tuning ${plainLine(output)}`;
  }
}

/** The JSON output, without the corrections, which are in the file. */
function jsonOf({ file, questions, ...facts }: Tuned) {
  return {
    ...facts,
    isWritten: file !== undefined,
    questions: questions.map(({ choice, ...question }) => {
      if (choice === undefined) return question;
      const { fitted, ...figures } = choice;
      return { ...question, ...figures };
    }),
  };
}

interface TuneOptions extends LabelledInput {
  readonly questions: JsonObject;
  readonly options: ServiceOptions;
  /** Kinds of corrections to choose from. */
  readonly kinds: readonly TuningKind[];
  /** Whether to keep a correction that was not shown to be better. */
  readonly isForced: boolean;
}

/** The corrections that were fitted. */
interface Tuned {
  readonly model: string;
  readonly precision: string;
  /** Rows of the input, and how many of them could not be scored. */
  readonly rows: number;
  readonly errors: readonly RowError[];
  readonly questions: readonly TunedReport[];
  /** Undefined if there is nothing to keep. */
  readonly file: TuningFile | undefined;
}

interface TunedReport {
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
async function tune(given: TuneOptions): Promise<Tuned> {
  const { questions, options, kinds } = given;
  const stop = stopOnSignals();
  try {
    await checkFirst("systemone", probeOf(questions), { options });
    const read = await readRows(given, stop.signal);
    const names = [...questions.keys()];
    const rows = labelled(read, given.place, questions, { names });
    const { host, port, ...ofModel } = options;
    const remoteToken = readRemoteToken(process.env);
    const scorer = await createScorer({ ...ofModel, remoteToken }, { hasVectors: kinds.includes("head") });
    try {
      const { signal } = stop;
      const ask = (body: string) => scorer.score(body, { signal });
      const scored: ScoredRow[] = [];
      const errors = await withProgress(rows.length, signal, (onRow, pause) =>
        askRows(
          rows,
          { ask, questions, wait: pause },
          ({ row, labels }, scores) => scored.push({ key: keyOf(row), labels, scores }),
          onRow,
        ),
      );
      const found = names.map((name, at) => tuneQuestion(name, at, scored, scorer, given));
      const kept = found.flatMap(({ tuned }) => tuned ?? []);
      const { id: model } = scorer.model;
      const { precision } = scorer;
      return {
        model,
        precision,
        rows: rows.length,
        errors,
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

const KINDS = { scale: "a scale and a bias for each label", head: "scale, bias and a linear head" } as const;

/** The result as text for a terminal. */
function tuningText(result: Tuned): string {
  const { model, precision, rows, questions } = result;
  return [[`${rows} rows, ${model}, ${precision}`, ...errorsText(result)], ...questions.map(questionLines)]
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function questionLines({ name, choice, isKept, notes }: TunedReport): string[] {
  const what = isKept && choice !== undefined ? KINDS[choice.kind] : "no correction";
  return [
    `${plainLine(name)}: ${what}`,
    ...(choice === undefined ? [] : figureLines(choice)),
    ...notes.map((note) => `  note: ${plainLine(note)}`),
  ];
}

function figureLines({ before, after, folds, rows, kind }: TuningChoice): string[] {
  const line = (what: string, then: string, now: string) =>
    `    ${what.padEnd(20)}${then.padStart(12)}${folds === 0 ? "" : now.padStart(12)}`;
  return [
    line("", "uncorrected", kind === "head" ? "with head" : "scaled"),
    line("right", percent(before.accuracy), percent(after.accuracy)),
    line("calibration error", percent(before.calibration_error), percent(after.calibration_error)),
    line("log loss", before.log_loss.toFixed(3), after.log_loss.toFixed(3)),
    ...(folds === 0 ? [] : [`  measured on ${rows} rows by cross-validation (${folds} folds)`]),
  ];
}
