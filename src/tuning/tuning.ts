import type { RenderedQuestion } from "../decisions/request.ts";
import type { TunedRequest, Tuning } from "../decisions/tuning.ts";
import { invalidOption } from "../errors.ts";
import type { ModelFacts } from "../inference/engine.ts";
import { corrected, placesOf } from "./correction.ts";
import { questionDigest } from "./question-digest.ts";
import { type TunedQuestion, type TuningFile, tuningId } from "./tuning-file.ts";

/** A file that has been read, with its name for messages. */
export interface NamedTuning {
  readonly name: string;
  readonly file: TuningFile;
}

/** Whether a correction of these needs the vectors that the model's head reads. */
export function needsVectors(files: readonly NamedTuning[]): boolean {
  return files.some(({ file }) => file.questions.some(({ kind }) => kind === "head"));
}

/**
 * Corrections for the questions of these files.
 *
 * @param flag what messages call the option
 * @throws ServiceError INVALID_OPTION for files of another model, and for two corrections of one question
 */
export function openTuning(
  files: readonly NamedTuning[],
  model: Pick<ModelFacts, "id">,
  flag = "--tuning",
): Tuning {
  const byDigest = new Map<string, { readonly id: string; readonly tuned: TunedQuestion }>();
  for (const { name, file } of files) {
    if (file.model !== model.id)
      throw invalidOption(
        `${flag}: ${name} belongs to ${file.model}, but the model to serve is ${model.id}.`,
      );
    for (const tuned of file.questions) {
      if (byDigest.has(tuned.question))
        throw invalidOption(
          `${flag}: the question ${JSON.stringify(tuned.name)} of ${name} is tuned twice; keep one of its corrections.`,
        );
      byDigest.set(tuned.question, { id: tuningId(file.model, tuned), tuned });
    }
  }
  const find = (question: RenderedQuestion) => {
    if (question.form === undefined) return undefined;
    const found = byDigest.get(questionDigest(question));
    const labels = question.candidates.map(({ label }) => label);
    const places = found && placesOf(found.tuned, labels);
    return places && { ...found, places };
  };
  return {
    facts: [...byDigest.values()].map(({ id, tuned: { name, form, question, kind } }) => ({
      id,
      name,
      form,
      question,
      kind,
    })),
    match(questions): TunedRequest | undefined {
      const matches = questions.map(find);
      const ids = matches.flatMap((match) => match?.id ?? []);
      if (ids.length === 0) return undefined;
      return {
        ids: [...new Set(ids)],
        correct: (scores, vectors) =>
          scores.map((own, at) => {
            const match = matches[at];
            return match ? corrected(match.tuned, match.places, own, vectors?.[at]) : own;
          }),
      };
    },
  };
}
