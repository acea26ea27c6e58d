import { Flags } from "@oclif/core";
import type { Location } from "../../errors.ts";
import type { Tuned } from "../actions/rows/tune.ts";
import { delimiterOf, formatOf, LABELLED_ROWS_FLAGS } from "../ask-flags.ts";
import { BaseCommand } from "../base-command.ts";
import { optionFlags } from "../option-flags.ts";
import { checkWritable, writeOutput } from "../output/output-file.ts";
import { plainLine } from "../output/plain-text.ts";
import { readQuestions } from "../questions-file.ts";

export default class Tune extends BaseCommand {
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

  #file = "--questions";

  protected override nameOf(place: Location): string {
    const [part, ...rest] = place;
    return part === "questions" ? [this.#file, ...rest].join(" ") : super.nameOf(place);
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Tune);
    // no tuning: corrections are fitted to the model's own scores
    const options = await this.options({ ...flags, tuning: [] });
    this.#file = flags.questions;
    const inputFormat = formatOf("--input", flags.input, flags["input-format"], "jsonl");
    const questions = await readQuestions(flags.questions);
    await checkWritable("--output", flags.output);
    const { tune } = await import("../actions/rows/tune.ts");
    const result = await tune({
      questions,
      options,
      input: flags.input,
      inputFormat,
      delimiter: delimiterOf(flags.delimiter, flags.input),
      place: flags["whole-row"] ? "row" : { field: flags["state-field"] },
      kinds: flags.kind === "scale" ? ["scale"] : flags.kind === "head" ? ["head"] : ["scale", "head"],
      isForced: flags.force,
    });
    if (result.file !== undefined)
      await writeOutput("--output", flags.output, `${JSON.stringify(result.file)}\n`);
    if (flags.json) this.log(JSON.stringify(jsonOf(result)));
    else {
      const { tuningText } = await import("../output/rows/tuning-text.ts");
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
