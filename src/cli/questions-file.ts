import { invalidOption, ServiceError } from "../errors.ts";
import { readJson } from "../json/read.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { writeJson } from "../json/write.ts";
import type { ShownCandidate } from "./output/show.ts";
import { fileText } from "./state-text.ts";

/**
 * Reads questions from a file: a JSON object from name to question, in its order, like `questions` of a request.
 *
 * @throws ServiceError INVALID_OPTION
 */
export async function readQuestions(file: string, flag = "--questions"): Promise<JsonObject> {
  const bytes = Buffer.from(await fileText(file, flag));
  const questions = await readJson(bytes).catch((error: unknown) => {
    throw error instanceof ServiceError ? invalidOption(`${flag} ${file}: ${error.message}`) : error;
  });
  if (isJsonObject(questions) && questions.size > 0 && [...questions.values()].every(isJsonObject))
    return questions;
  throw invalidOption(
    `${flag}: expected a JSON file with an object from name to question, for example {"angry": {"type": "noul", "instructions": "The customer is angry."}}, got something else in ${file}.`,
  );
}

/** The candidates of a question, in order, for display. A level is shown as its number and its text. */
export function candidatesOf(question: JsonValue | undefined): readonly ShownCandidate[] {
  const criteria = isJsonObject(question) ? question.get("criteria") : undefined;
  if (isJsonObject(question) && question.get("type") === "choice" && isJsonObject(criteria))
    return [...criteria.keys()].map((label) => ({ label, text: label }));
  if (!Array.isArray(criteria)) return ["false", "true"].map((label) => ({ label, text: label }));
  return criteria.map((level: JsonValue, at) => ({ label: String(at), text: `${at}: ${textOf(level)}` }));
}

const textOf = (value: JsonValue) => (typeof value === "string" ? value : writeJson(value));
