import { Flags } from "@oclif/core";
import { type Location, ServiceError } from "../../errors.ts";
import { ASK_FLAGS } from "../ask-flags.ts";
import { BaseCommand } from "../base-command.ts";
import { type ShownCandidate, showAnswer } from "../output/show.ts";
import { stateText } from "../state-text.ts";

/** Name of the question in the request. */
const NAME = "answer";

type Question =
  | { readonly type: "noul"; readonly instructions: string }
  | { readonly type: "score"; readonly instructions: string; readonly criteria: readonly string[] }
  /** A Map, because labels may look like integers. */
  | {
      readonly type: "choice";
      readonly instructions: string;
      readonly criteria: ReadonlyMap<string, string | null>;
    };

export default class Decide extends BaseCommand {
  static override summary = "Ask one question about a state, without a server.";
  static override description =
    "With --choice it is a choice between labels, with --level a score on a rubric, otherwise a yes/no question.";
  static override examples = [
    "<%= config.bin %> decide --state 'I was charged twice' --question 'What is wanted?' --choice refund='Wants money back' --choice cancel='Wants to leave'",
    "<%= config.bin %> decide --state - --question 'The customer is angry.' < message.txt",
    "<%= config.bin %> decide --state 'Site is down' --question 'How urgent is this?' --level 'can wait' --level 'this week' --level today --json",
  ];
  static override flags = {
    ...ASK_FLAGS,
    question: Flags.string({
      required: true,
      helpValue: "<text>",
      description: "the question or instruction",
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
  };

  #candidateFlag = "--choice";

  protected override nameOf(place: Location): string {
    const [part, , member, ...label] = place;
    if (part === "state") return "--state";
    if (part !== "questions") return super.nameOf(place);
    return member === "criteria" ? [this.#candidateFlag, ...label].join(" ") : "--question";
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Decide);
    const options = await this.options(flags);
    if (flags.level) this.#candidateFlag = "--level";
    const question = questionOf(flags.question, flags.choice, flags.level);
    const { askSystemone } = await import("../actions/ask.ts");
    const state = await stateText(flags.state);
    const { text, body } = await askSystemone({ state, questions: { [NAME]: question } }, options);
    if (flags.json) return this.log(text);
    const answer = body.answers[NAME];
    if (answer) this.log(showAnswer(answer, candidatesOf(question)));
  }
}

function questionOf(instructions: string, choices?: readonly string[], levels?: readonly string[]): Question {
  if (levels) return { type: "score", instructions, criteria: levels };
  if (!choices) return { type: "noul", instructions };
  const criteria = new Map<string, string | null>();
  for (const choice of choices) {
    const [label = "", ...description] = choice.split("=");
    if (criteria.has(label)) {
      throw new ServiceError("INVALID_OPTION", "--choice takes each label once; a label was given twice.");
    }
    criteria.set(label, description.length > 0 ? description.join("=") : null);
  }
  return { type: "choice", instructions, criteria };
}

/** Candidates to show, in the order of the request. A level is shown as its number and its text. */
function candidatesOf(question: Question): readonly ShownCandidate[] {
  switch (question.type) {
    case "choice":
      return [...question.criteria.keys()].map((label) => ({ label, text: label }));
    case "noul":
      return ["false", "true"].map((label) => ({ label, text: label }));
    case "score":
      return question.criteria.map((text, level) => ({ label: String(level), text: `${level}: ${text}` }));
  }
}
