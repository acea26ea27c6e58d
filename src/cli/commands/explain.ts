import { Flags } from "@oclif/core";
import { CANDIDATE, targetOf } from "../ask-flags.ts";
import { QUESTION_FLAGS, QuestionCommand } from "../question-command.ts";

export default class Explain extends QuestionCommand {
  static override summary = "Show how the model reads a request, and what influenced its answers.";
  static override description =
    "Shows each text as the model reads it: its tokens, words that are not in the vocabulary, and how much of each limit is used. " +
    "Then it shows the answers, and how much each field or sentence of the state changed them. To measure this, it asks the " +
    "questions again without that part.\n" +
    "With --candidate it explains a ranking. --dry-run shows texts and tokens without loading the model. With --url, the service " +
    "must have been started with --explain. docs/explain.md has examples.";
  static override examples = [
    "<%= config.bin %> explain --state 'The parcel is here. But the kettle is broken!' --question 'Something is broken.'",
    "<%= config.bin %> explain --state-file order.json --questions questions.json --json > explanation.json",
    "<%= config.bin %> explain --state 'The printer reports a paper jam' --candidate 'Open tray 2' --candidate 'Buy ink'",
    "<%= config.bin %> explain --dry-run --state - --question 'The customer is angry.' < message.txt",
  ];
  static override flags = {
    ...QUESTION_FLAGS,
    question: Flags.string({
      atLeastOne: ["question", "questions", "candidate"],
      exclusive: ["questions"],
      helpValue: "<text>",
      description: "the question or instruction, or the question by which candidates are ranked",
    }),
    candidate: Flags.string({
      ...CANDIDATE,
      exclusive: ["questions", "choice", "level"],
      description: "explain a ranking: a candidate; repeatable",
    }),
    "dry-run": Flags.boolean({ description: "show only texts and tokens, without loading the model" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Explain);
    const { question, candidate: candidates, json, "dry-run": isDry } = flags;
    const target = await targetOf(flags, () => this.options(flags));
    const { explain } = await import("../actions/explain.ts");
    if (candidates !== undefined) {
      const asked = { state: await this.stateOf(flags), question: question ?? "", candidates };
      const text = await explain(asked, target, { isDry });
      if (json) return this.log(text);
      const { showRankingExplanation } = await import("../output/explanation-text.ts");
      return this.log(showRankingExplanation(JSON.parse(text), candidates));
    }
    const asked = await this.questionsOf(flags);
    const state = await this.stateOf(flags);
    const text = await explain({ state, questions: asked.questions }, target, { isDry });
    if (json) return this.log(text);
    const { showExplanation } = await import("../output/explanation-text.ts");
    this.log(showExplanation(JSON.parse(text), asked));
  }
}
