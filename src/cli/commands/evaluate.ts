import { Flags } from "@oclif/core";
import { invalidOption } from "../../errors.ts";
import {
  type AnsweredRows,
  answerRows,
  dataDigest,
  digest,
  type LabelledRow,
} from "../../evaluation/answer-rows.ts";
import type { CheckResult, Evaluation } from "../../evaluation/evaluation.ts";
import { labelsOf } from "../../evaluation/labelled-row.ts";
import { reportQuestion } from "../../evaluation/question-report.ts";
import { compare } from "../../evaluation/statistics/comparison.ts";
import type { Judged } from "../../evaluation/statistics/judged.ts";
import {
  check,
  readThresholdFile,
  type ThresholdFile,
  thresholdFile,
} from "../../evaluation/threshold-file.ts";
import type { JsonObject } from "../../json/value.ts";
import { writeJson } from "../../json/write.ts";
import { checkTuning } from "../../library/index.ts";
import { optionFlags } from "../option-flags.ts";
import { evaluationPage } from "../output/evaluation-page.ts";
import { evaluationText } from "../output/evaluation-text.ts";
import { checkWritable, writeOutput } from "../output/output-file.ts";
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
import { fileText } from "../state-text.ts";
import { stopOnSignals } from "../stop.ts";
import { checkFirst, openTarget, TARGET_FLAGS, type Target, targetOf } from "../target.ts";

export default class Evaluate extends RowsCommand {
  static override summary = "Measure answers on labelled rows, and find confidence thresholds.";
  static override description =
    "Tells accuracy, precision and recall of each label, calibration, and which threshold on the confidence reaches an accuracy. " +
    "--check compares with an earlier run, --compare with another wording, --compare-model with another model.\n" +
    "Exit code: 0 done, 1 a row has no answer or --check found something worse, 2 wrong usage. docs/evaluation.md describes files and " +
    "figures.";
  static override examples = [
    "<%= config.bin %> evaluate --questions questions.json --input labelled.jsonl",
    "<%= config.bin %> evaluate --questions questions.json --input labelled.csv --state-field text --target 0.98 --thresholds thresholds.json --report page.html",
    "<%= config.bin %> evaluate --questions questions.json --input labelled.jsonl --check thresholds.json",
    "<%= config.bin %> evaluate --questions questions.json --input labelled.jsonl --compare other-wording.json",
  ];
  static override flags = {
    ...LABELLED_ROWS_FLAGS,
    target: Flags.string({
      default: "0.95",
      helpValue: "<share>",
      description: "accuracy that the threshold must reach",
    }),
    thresholds: Flags.string({
      helpValue: "<file.json>",
      description: "write the thresholds and their figures to this file, for --check",
    }),
    check: Flags.string({
      helpValue: "<file.json>",
      description: "exit with 1 if a figure is worse than in this file, written by --thresholds",
    }),
    tolerance: Flags.string({
      default: "0.01",
      helpValue: "<share>",
      description: "how much a figure may fall before --check reports it as worse",
    }),
    compare: Flags.string({
      helpValue: "<file.json>",
      description: "file with other questions, to compare on the same rows",
    }),
    "compare-url": Flags.string({
      helpValue: "<url>",
      description: "running service to compare with",
      exclusive: ["compare-model", "compare-model-path"],
    }),
    "compare-model": Flags.string({
      helpValue: "<name>",
      description: "model to compare with",
      exclusive: ["compare-model-path"],
    }),
    "compare-model-path": Flags.string({
      helpValue: "<folder>",
      description: "folder of the model package to compare with",
    }),
    "compare-tuning": Flags.string({
      multiple: true,
      helpValue: "<file.json>",
      description: "file of `decision tune` to compare with; repeatable",
      exclusive: ["compare-url"],
    }),
    json: Flags.boolean({ description: "print the figures as JSON" }),
    report: Flags.string({ helpValue: "<file.html>", description: "write an HTML page with plots" }),
    ...TARGET_FLAGS,
    ...optionFlags(["tuning"]),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Evaluate);
    const target = await targetOf(flags, () => this.options(flags));
    this.files = [flags.questions, ...(flags.compare === undefined ? [] : [flags.compare])];
    const input = inputOf(flags);
    const accuracy = shareOf("--target", flags.target, (share) => share > 0 && share < 1);
    const tolerance = shareOf("--tolerance", flags.tolerance, (share) => share >= 0 && share < 1);
    const questions = await readQuestions(flags.questions);
    const other = await this.#other(flags, { questions, target });
    const check =
      flags.check === undefined
        ? undefined
        : readThresholdFile(await fileText(flags.check, "--check"), flags.check);
    await checkWritable("--thresholds", flags.thresholds);
    await checkWritable("--report", flags.report);

    const { evaluation, thresholds } = await evaluate({
      questions,
      target,
      ...input,
      accuracy,
      check: check && { name: flags.check ?? "", file: check, tolerance },
      other,
    });
    if (flags.thresholds !== undefined)
      await writeOutput("--thresholds", flags.thresholds, `${JSON.stringify(thresholds, undefined, 2)}\n`);
    if (flags.report !== undefined) {
      await writeOutput("--report", flags.report, evaluationPage(evaluation));
    }
    if (flags.json) this.log(JSON.stringify(evaluation));
    else {
      this.log(evaluationText(evaluation));
    }
    if (evaluation.errors.length > 0 || evaluation.check?.isWorse) this.exit(1);
  }

  async #other(
    flags: Readonly<Record<string, unknown>> & { readonly compare?: string | undefined },
    { questions, target }: Asked,
  ): Promise<Asked | undefined> {
    const named = {
      url: textOf(flags["compare-url"]),
      model: textOf(flags["compare-model"]),
      "model-path": textOf(flags["compare-model-path"]),
      tuning: listOf(flags["compare-tuning"]),
    };
    const isNamed = Object.values(named).some((value) => value !== undefined);
    if (flags.compare === undefined && !isNamed) return undefined;
    return {
      questions: flags.compare === undefined ? questions : await readQuestions(flags.compare, "--compare"),
      // a tuning file belongs to one model: that of --tuning does not fit the other model
      target: isNamed
        ? await targetOf(
            named,
            () => this.options({ ...flags, ...named, tuning: named.tuning ?? [] }),
            "--compare-",
          )
        : target,
    };
  }
}

const textOf = (flag: unknown) => (typeof flag === "string" ? flag : undefined);
const listOf = (flag: unknown): string[] | undefined => (Array.isArray(flag) ? flag.map(String) : undefined);

/** @throws ServiceError INVALID_OPTION */
function shareOf(flag: string, text: string, isFit: (share: number) => boolean): number {
  const share = text.trim() === "" ? Number.NaN : Number(text);
  if (isFit(share)) return share;
  throw invalidOption(`${flag}: expected a share between 0 and 1, for example 0.95, got another text.`);
}

/** Questions, and what answers them. */
interface Asked {
  readonly questions: JsonObject;
  readonly target: Target;
}

interface EvaluateOptions extends Asked, LabelledInput {
  /** Target accuracy of the thresholds. */
  readonly accuracy: number;
  readonly check?:
    | { readonly name: string; readonly file: ThresholdFile; readonly tolerance: number }
    | undefined;
  readonly other?: Asked | undefined;
}

interface Evaluated {
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
async function evaluate(options: EvaluateOptions): Promise<Evaluated> {
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
    const { place } = options;
    const firstRows = labelled(rows, place, questions, { names, needed: [...questions.keys()] });
    const needed = pairs.map(([, name]) => name);
    const otherRows = other && labelled(rows, place, other.questions, { names, needed });

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
      errors: [...first.errors, ...(second?.errors ?? [])],
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
  const ask = (body: string) => decider.ask("systemone", body, { signal });
  try {
    return await withProgress(rows.length, signal, async (onRow, pause) => {
      signal.throwIfAborted();
      await ask(probeOf(questions)); // a service may have lower limits, and token limits are checked only here
      return answerRows(rows, { ask, questions, wait: pause }, onRow);
    });
  } finally {
    await decider.close();
  }
}

function noAnswer(name: string, { errors }: AnsweredRows) {
  const [first] = errors;
  const why = first === undefined ? "" : ` Row ${first.row}: ${first.message}`;
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
