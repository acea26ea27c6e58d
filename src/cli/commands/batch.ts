import { Flags } from "@oclif/core";
import { invalidOption, type Location } from "../../errors.ts";
import { delimiterOf, formatOf, ROWS_FLAGS, TARGET_FLAGS, targetOf } from "../ask-flags.ts";
import { BaseCommand } from "../base-command.ts";
import { optionFlags } from "../option-flags.ts";
import { readQuestions } from "../questions-file.ts";

export default class Batch extends BaseCommand {
  static override summary = "Answer the same questions about every row of a file.";
  static override description =
    "Rows are answered in parallel and written in the order of the input. If a row cannot be answered, its output row has the " +
    "error. After Ctrl-C or a kill, the same command with --resume continues after the last complete row.\n" +
    "Progress goes to stderr. Exit code: 0 every row has an answer, 1 a row has an error or the batch was stopped, 2 wrong " +
    "usage. docs/cli.md describes the files.";
  static override examples = [
    "<%= config.bin %> batch --questions questions.json --input rows.jsonl --output answers.jsonl",
    "<%= config.bin %> batch --questions questions.json --input tickets.csv --state-field text --output answers.csv",
    "<%= config.bin %> batch --questions questions.json --input rows.jsonl --output answers.jsonl --resume",
    "zcat rows.jsonl.gz | <%= config.bin %> batch --questions questions.json --input - --url http://127.0.0.1:8700 > answers.jsonl",
  ];
  static override flags = {
    ...ROWS_FLAGS,
    input: Flags.string({
      required: true,
      helpValue: "<file>",
      description: "rows, .jsonl or .csv; - reads standard input",
    }),
    output: Flags.string({
      default: "-",
      helpValue: "<file>",
      description: "file for the answers, .jsonl or .csv; - writes to standard output",
    }),
    "output-format": Flags.string({
      options: ["jsonl", "csv"],
      helpValue: "jsonl|csv",
      description: "format of the output [default: by the file name, else that of the input]",
    }),
    "whole-row": Flags.boolean({ description: "use each whole row as the state" }),
    resume: Flags.boolean({
      description: "continue after the last complete row of the output",
      exclusive: ["overwrite"],
    }),
    overwrite: Flags.boolean({ description: "replace an existing output file" }),
    json: Flags.boolean({
      description: "print the counts of rows and errors as JSON; needs an --output that is a file",
    }),
    ...TARGET_FLAGS,
    ...optionFlags(["tuning"]),
  };

  #file = "--questions";

  protected override nameOf(place: Location): string {
    const [part, ...rest] = place;
    return part === "questions" ? [this.#file, ...rest].join(" ") : super.nameOf(place);
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Batch);
    const target = await targetOf(flags, () => this.options(flags));
    this.#file = flags.questions;
    const inputFormat = formatOf("--input", flags.input, flags["input-format"], "jsonl");
    const outputFormat = formatOf("--output", flags.output, flags["output-format"], inputFormat);
    if (flags.json && flags.output === "-")
      throw invalidOption("--json prints counts to standard output, so it needs an --output that is a file.");
    const questions = await readQuestions(flags.questions);
    const { batch } = await import("../actions/rows/batch.ts");
    const summary = await batch({
      questions,
      input: flags.input,
      inputFormat,
      delimiter: delimiterOf(flags.delimiter, inputFormat === "csv" ? flags.input : flags.output),
      output: flags.output,
      outputFormat,
      place: flags["whole-row"] ? "row" : { field: flags["state-field"] },
      isResumed: flags.resume,
      isOverwriting: flags.overwrite,
      target,
    });
    if (flags.json) this.log(JSON.stringify({ output: flags.output, ...summary }));
    if (summary.errors > 0) this.exit(1);
  }
}
