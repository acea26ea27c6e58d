import type { JsonObject } from "../../json/value.ts";
import { showAnswer, showAnswers } from "../output/show.ts";
import { QUESTION_FLAGS, QuestionCommand } from "../question-command.ts";
import { candidatesOf } from "../questions-file.ts";
import { ask, targetOf } from "../target.ts";

export default class Decide extends QuestionCommand {
  static override summary = "Answer questions about a text, with or without a running service.";
  static override description =
    "With --choice the question is a choice between labels, with --level a score on a rubric, otherwise a yes/no question. " +
    "--questions reads several questions from a file.\n" +
    "Loading the model takes seconds at each call. To avoid this, use a running service: set --url or DECISION_URL.";
  static override examples = [
    "<%= config.bin %> decide --state 'I was charged twice' --question 'What is wanted?' --choice refund='Wants money back' --choice cancel='Wants to leave'",
    "<%= config.bin %> decide --state - --question 'The customer is angry.' < message.txt",
    "<%= config.bin %> decide --state 'Site is down' --question 'How urgent is this?' --level 'can wait' --level 'this week' --level today --json",
    "<%= config.bin %> decide --state-file order.json --questions questions.json --url http://127.0.0.1:8700",
  ];
  static override flags = QUESTION_FLAGS;

  async run(): Promise<void> {
    const { flags } = await this.parse(Decide);
    const target = await targetOf(flags, () => this.options(flags));
    const { questions, isNamed } = await this.questionsOf(flags);
    const text = await ask("systemone", { state: await this.stateOf(flags), questions }, target);
    this.log(flags.json ? text : shown(text, questions, isNamed));
  }
}

function shown(text: string, questions: JsonObject, isNamed: boolean): string {
  const { answers } = JSON.parse(text);
  const shownAnswers = [...questions].map(([name, question]) => ({
    name,
    text: showAnswer(answers[name], candidatesOf(question)),
  }));
  return isNamed ? showAnswers(shownAnswers) : (shownAnswers[0]?.text ?? "");
}
