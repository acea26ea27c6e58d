import { Flags } from "@oclif/core";
import { type Location, ServiceError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import { BaseCommand } from "./base-command.ts";
import { readQuestions } from "./questions-file.ts";
import { givenState } from "./state-text.ts";
import { ASK_FLAGS } from "./target.ts";

/** Flags of a command that asks one question, or the questions of a file, about a state. */
export const QUESTION_FLAGS = {
  ...ASK_FLAGS,
  question: Flags.string({
    exactlyOne: ["question", "questions"],
    helpValue: "<text>",
    description: "the question or instruction",
  }),
  questions: Flags.string({
    helpValue: "<file.json>",
    description: "JSON file with named questions, as in a request",
    exclusive: ["choice", "level"],
  }),
  choice: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: "<label[=description]>",
    description: "possible answer; == in a label stands for =; repeatable",
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

/** Name of the question of --question in the request. */
const NAME = "answer";

interface GivenFlags {
  readonly state?: string | undefined;
  readonly "state-file"?: string | undefined;
  readonly question?: string | undefined;
  readonly questions?: string | undefined;
  readonly choice?: readonly string[] | undefined;
  readonly level?: readonly string[] | undefined;
}

/** The questions of a request, from flags. */
export interface GivenQuestions {
  readonly questions: JsonObject;
  /** Whether they have their own names, from a file. */
  readonly isNamed: boolean;
}

/** Base class of `decide` and `explain`. Its errors name the flag that caused them. */
export abstract class QuestionCommand extends BaseCommand {
  #candidateFlag = "--choice";
  #file: string | undefined;
  #stateFlag = "--state";

  protected override nameOf(place: Location): string {
    const [part, name, member, ...label] = place;
    if (part === "state") return this.#stateFlag;
    if (part === "candidates") return ["--candidate", ...place.slice(1)].join(" ");
    if (part === "question") return "--question";
    if (part !== "questions") return super.nameOf(place);
    if (this.#file !== undefined) return [this.#file, ...place.slice(1)].join(" ");
    if (name === undefined) return "--question";
    return member === "criteria" ? [this.#candidateFlag, ...label].join(" ") : "--question";
  }

  /** @throws ServiceError INVALID_OPTION */
  protected async questionsOf(flags: GivenFlags): Promise<GivenQuestions> {
    if (flags.level) this.#candidateFlag = "--level";
    this.#file = flags.questions;
    if (flags.questions !== undefined)
      return { questions: await readQuestions(flags.questions), isNamed: true };
    const question = questionOf(flags.question ?? "", flags.choice, flags.level);
    return { questions: new Map([[NAME, question]]), isNamed: false };
  }

  /** @throws ServiceError INVALID_OPTION */
  protected stateOf(flags: GivenFlags): Promise<string> {
    if (flags["state-file"] !== undefined) this.#stateFlag = "--state-file";
    return givenState(flags);
  }
}

/** A question in the contract's form. A Map, because labels may look like integers. */
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
    // a pair is the label's own; the first single one ends the label
    const [, label = "", description = null] = /^((?:[^=]|==)*)(?:=(.*))?$/s.exec(choice) ?? [];
    const name = label.replaceAll("==", "=");
    if (criteria.has(name)) {
      throw new ServiceError(
        "INVALID_OPTION",
        "--choice: a label was given twice; each label must be different.",
      );
    }
    criteria.set(name, description);
  }
  return question("choice", criteria);
}
