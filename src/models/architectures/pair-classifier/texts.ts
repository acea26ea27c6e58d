import type { PairTexts, QuestionTexts } from "../../../inference/tokens/pair-tokenizer.ts";
import { PLACES, type Templates } from "./templates.ts";

/**
 * Premise and hypothesis. The premise is the state; without a state it is the question, which the hypothesis then
 * leaves out.
 *
 *     premise      I was charged twice.
 *     hypothesis   Which team answers? Billing: invoices and refunds
 */
export function entailmentTexts(
  { form, state, question, candidate }: QuestionTexts,
  templates: Templates,
): PairTexts {
  const isQuestionPremise = state === "" && candidate !== "";
  const hypothesis = fill(templates[form ?? "rank"], isQuestionPremise ? "" : question, candidate);
  return { first: isQuestionPremise ? question : state, second: hypothesis };
}

/**
 * Query and document. The document is the candidate, and the query the question and the state. Of a yes/no question,
 * the state is the document, because the candidates say nothing of their own.
 */
export function relevanceTexts({ form, state, question, candidate }: QuestionTexts): PairTexts {
  const query = (...texts: readonly string[]) => texts.filter((text) => text !== "").join(" ");
  return form === "noul"
    ? { first: query(question, candidate), second: state }
    : { first: query(question, state), second: candidate };
}

/** Fills the places. A place without a text takes the blank beside it along. */
function fill(template: string, question: string, candidate: string): string {
  const texts: Readonly<Record<string, string>> = { question, candidate };
  let text = "";
  let at = 0;
  for (const match of template.matchAll(PLACES)) {
    text = joined(text, template.slice(at, match.index), texts[match[1] ?? ""] ?? "");
    at = match.index + match[0].length;
  }
  return (text + template.slice(at)).trim();
}

function joined(before: string, between: string, text: string): string {
  return text === "" ? (before + between).replace(/ $/, "") : before + between + text;
}
