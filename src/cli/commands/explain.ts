import { Flags } from "@oclif/core";
import { optionFlags } from "../option-flags.ts";
import { QUESTION_FLAGS, QuestionCommand } from "../question-command.ts";
import { targetOf } from "../target.ts";

export default class Explain extends QuestionCommand {
  static override summary = "Show what the model reads of a request, and what moved its answers.";
  static override description =
    "Shows each text as the model reads it: its tokens, which words the vocabulary lacks, how much of each limit is used. Then " +
    "the answers, and how much each field or sentence of the state moved them: the questions are asked again without it.\n" +
    "--dry-run shows texts and tokens without loading the model. A service explains only if it was started with --explain. " +
    "docs/explain.md has an example.";
  static override examples = [
    "<%= config.bin %> explain --state 'The parcel is here. But the kettle is broken!' --question 'Something is broken.'",
    "<%= config.bin %> explain --state-file order.json --questions questions.json --json > explanation.json",
    "<%= config.bin %> explain --dry-run --state - --question 'The customer is angry.' < message.txt",
  ];
  static override flags = {
    ...QUESTION_FLAGS,
    ...optionFlags(["tuning"]),
    "dry-run": Flags.boolean({ description: "texts and tokens only, without the model" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Explain);
    const target = await targetOf(flags, () => this.options(flags));
    const asked = await this.questionsOf(flags);
    const state = await this.stateOf(flags);
    const { explain } = await import("../actions/explain.ts");
    const text = await explain({ state, questions: asked.questions }, target, { isDry: flags["dry-run"] });
    if (flags.json) return this.log(text);
    const { showExplanation } = await import("../output/explanation-text.ts");
    this.log(showExplanation(JSON.parse(text), asked));
  }
}
