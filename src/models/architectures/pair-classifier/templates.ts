import type { QuestionTexts } from "../../../inference/tokens/pair-tokenizer.ts";

/** What a question is for the texts of its pairs. A ranking has no type of question. */
export type TextForm = NonNullable<QuestionTexts["form"]> | "rank";

export const TEXT_FORMS: readonly TextForm[] = ["choice", "noul", "score", "rank"];

/**
 * Texts with places for those of a request:
 *
 *     {question}    the rendered instructions or question
 *     {candidate} what is said of the candidate: a description, level or text. For a yes/no question the description of
 *     `true`, if any
 */
export type Templates = Readonly<Record<TextForm, string>>;

/** The default: says what the request says. */
export const TEMPLATES: Templates = {
  choice: "{question} {candidate}",
  noul: "{question} {candidate}",
  score: "{question} {candidate}",
  rank: "{question} {candidate}",
};

export const PLACES = /\{(question|candidate)\}/g;

/** The fault of a template, as the end of a sentence that begins with its name. */
export function templateFault(template: string, form: TextForm): string | undefined {
  const places = [...template.matchAll(PLACES)].map(([place]) => place);
  const needed = form === "noul" ? "{question} or {candidate}" : "{candidate}";
  const has = form === "noul" ? places.length > 0 : places.includes("{candidate}");
  if (!has) return `lacks ${needed}`;
  const rest = template.replaceAll(PLACES, "");
  return /[{}]/.test(rest)
    ? "has braces that are no place; the places are {question} and {candidate}"
    : undefined;
}
