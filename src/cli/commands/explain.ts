import { Flags } from "@oclif/core";
import { ServiceError } from "../../errors.ts";
import type { JsonObject } from "../../json/value.ts";
import { writeJson } from "../../json/write.ts";
import { dryRun } from "../../library/index.ts";
import { showExplanation, showRankingExplanation } from "../output/explanation-text.ts";
import { QUESTION_FLAGS, QuestionCommand } from "../question-command.ts";
import { CANDIDATE, checkFirst, openTarget, type Target, targetOf } from "../target.ts";

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
    if (candidates !== undefined) {
      const asked = { state: await this.stateOf(flags), question: question ?? "", candidates };
      const text = await explain(asked, target, { isDry });
      if (json) return this.log(text);
      return this.log(showRankingExplanation(JSON.parse(text), candidates));
    }
    const asked = await this.questionsOf(flags);
    const state = await this.stateOf(flags);
    const text = await explain({ state, questions: asked.questions }, target, { isDry });
    if (json) return this.log(text);
    this.log(showExplanation(JSON.parse(text), asked));
  }
}

/** A request to `systemone` or to `rank`. */
export type Asked =
  | { readonly state: string; readonly questions: JsonObject }
  | { readonly state: string; readonly question: string; readonly candidates: readonly string[] };

/**
 * Explains a request.
 *
 * @param isDry true explains texts and tokens only, without the model
 * @returns the JSON text of the explanation, exactly as a service writes it
 * @throws ServiceError as `ask`; NOT_FOUND if a service has no explanations
 */
export async function explain(
  asked: Asked,
  target: Target,
  { isDry }: { readonly isDry: boolean },
): Promise<string> {
  const body = writeJson({ ...asked, ...(isDry && { dry_run: true }) });
  if ("options" in target) {
    if (isDry) return dryRun(body, target.options);
    await checkFirst("questions" in asked ? "systemone" : "rank", writeJson(asked), target);
  }
  const decider = await openTarget(target);
  try {
    return await decider.ask("explain", body);
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "NOT_FOUND")
      throw new ServiceError(
        "NOT_FOUND",
        "the service has no explanations: start it with --explain, or check the URL.",
        {
          cause: error,
        },
      );
    throw error;
  } finally {
    await decider.close();
  }
}
