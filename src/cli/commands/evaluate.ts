import { Flags } from "@oclif/core";
import { invalidOption, type Location } from "../../errors.ts";
import { readThresholdFile } from "../../evaluation/threshold-file.ts";
import type { Asked } from "../actions/rows/evaluate.ts";
import { delimiterOf, formatOf, LABELLED_ROWS_FLAGS, TARGET_FLAGS, targetOf } from "../ask-flags.ts";
import { BaseCommand } from "../base-command.ts";
import { optionFlags } from "../option-flags.ts";
import { checkWritable, writeOutput } from "../output/output-file.ts";
import { readQuestions } from "../questions-file.ts";
import { fileText } from "../state-text.ts";

export default class Evaluate extends BaseCommand {
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

  #files = "--questions";

  protected override nameOf(place: Location): string {
    const [part, ...rest] = place;
    return part === "questions" ? [this.#files, ...rest].join(" ") : super.nameOf(place);
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Evaluate);
    const target = await targetOf(flags, () => this.options(flags));
    this.#files = [flags.questions, ...(flags.compare === undefined ? [] : [flags.compare])].join(" or ");
    const inputFormat = formatOf("--input", flags.input, flags["input-format"], "jsonl");
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

    const { evaluate } = await import("../actions/rows/evaluate.ts");
    const { evaluation, thresholds } = await evaluate({
      questions,
      target,
      input: flags.input,
      inputFormat,
      delimiter: delimiterOf(flags.delimiter, flags.input),
      place: flags["whole-row"] ? "row" : { field: flags["state-field"] },
      accuracy,
      check: check && { name: flags.check ?? "", file: check, tolerance },
      other,
    });
    if (flags.thresholds !== undefined)
      await writeOutput("--thresholds", flags.thresholds, `${JSON.stringify(thresholds, undefined, 2)}\n`);
    if (flags.report !== undefined) {
      const { evaluationPage } = await import("../output/rows/evaluation-page.ts");
      await writeOutput("--report", flags.report, evaluationPage(evaluation));
    }
    if (flags.json) this.log(JSON.stringify(evaluation));
    else {
      const { evaluationText } = await import("../output/rows/evaluation-text.ts");
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
