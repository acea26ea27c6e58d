import { Flags } from "@oclif/core";
import { type Location, ServiceError } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../json/value.ts";
import { ASK_FLAGS } from "../ask-flags.ts";
import { BaseCommand } from "../base-command.ts";
import { optionFlags } from "../option-flags.ts";
import { showAnswer, showAnswers } from "../output/show.ts";
import { candidatesOf, readQuestions } from "../questions-file.ts";
import { givenState } from "../state-text.ts";
import { targetOf } from "../target.ts";

/** Name of the question in the request. */
const NAME = "answer";

export default class Decide extends BaseCommand {
  static override summary = "Ask questions about a state, without a server or through one.";
  static override description =
    "With --choice it is a choice between labels, with --level a score on a rubric, otherwise a yes/no question. " +
    "--questions asks several, from a file.\n" +
    "The model is loaded for each call, which takes seconds. A running service answers at once: name it with --url or in " +
    "DECISION_URL.";
  static override examples = [
    "<%= config.bin %> decide --state 'I was charged twice' --question 'What is wanted?' --choice refund='Wants money back' --choice cancel='Wants to leave'",
    "<%= config.bin %> decide --state - --question 'The customer is angry.' < message.txt",
    "<%= config.bin %> decide --state 'Site is down' --question 'How urgent is this?' --level 'can wait' --level 'this week' --level today --json",
    "<%= config.bin %> decide --state-file order.json --questions questions.json --url http://127.0.0.1:8700",
  ];
  static override flags = {
    ...ASK_FLAGS,
    question: Flags.string({
      exactlyOne: ["question", "questions"],
      helpValue: "<text>",
      description: "the question or instruction",
    }),
    questions: Flags.string({
      helpValue: "<file.json>",
      description: "file with questions by name, as in a request",
      exclusive: ["choice", "level"],
    }),
    choice: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: "<label[=description]>",
      description: "possible answer; repeatable",
      exclusive: ["level"],
    }),
    level: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: "<description>",
      description: "level of the rubric, lowest first; repeatable",
      exclusive: ["choice"],
    }),
    ...optionFlags(["tuning"]),
  };

  #candidateFlag = "--choice";
  #file: string | undefined;

  protected override nameOf(place: Location): string {
    const [part, name, member, ...label] = place;
    if (part === "state") return this.#stateFlag;
    if (part !== "questions") return super.nameOf(place);
    if (this.#file !== undefined) return [this.#file, ...place.slice(1)].join(" ");
    if (name === undefined) return "--question";
    return member === "criteria" ? [this.#candidateFlag, ...label].join(" ") : "--question";
  }

  #stateFlag = "--state";

  async run(): Promise<void> {
    const { flags } = await this.parse(Decide);
    const target = await targetOf(flags, () => this.options(flags));
    if (flags.level) this.#candidateFlag = "--level";
    if (flags["state-file"] !== undefined) this.#stateFlag = "--state-file";
    this.#file = flags.questions;
    const questions =
      flags.questions === undefined
        ? new Map([[NAME, questionOf(flags.question ?? "", flags.choice, flags.level)]])
        : await readQuestions(flags.questions);
    const { ask } = await import("../actions/ask.ts");
    const text = await ask("systemone", { state: await givenState(flags), questions }, target);
    if (flags.json) return this.log(text);
    this.log(shown(text, questions, flags.questions !== undefined));
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

/** A question as the contract has it. A Map, because labels may look like integers. */
function questionOf(
  instructions: string,
  choices?: readonly string[],
  levels?: readonly string[],
): JsonObject {
  const question = (type: string, criteria?: JsonValue) =>
    new Map<string, JsonValue>([
      ["type", type],
      ["instructions", instructions],
      ...(criteria === undefined ? [] : [["criteria", criteria] as const]),
    ]);
  if (levels) return question("score", levels);
  if (!choices) return question("noul");
  const criteria = new Map<string, string | null>();
  for (const choice of choices) {
    const [label = "", ...description] = choice.split("=");
    if (criteria.has(label)) {
      throw new ServiceError("INVALID_OPTION", "--choice takes each label once; a label was given twice.");
    }
    criteria.set(label, description.length > 0 ? description.join("=") : null);
  }
  return question("choice", criteria);
}
