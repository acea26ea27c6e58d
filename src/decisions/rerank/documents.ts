import { type Issue, invalidRequest, type Location } from "../../errors.ts";
import { describeKind, isJsonObject, type JsonValue } from "../../json/value.ts";

/**
 * Documents that are strings, or objects with a string `text`.
 *
 * @throws ServiceError INVALID_REQUEST with an issue for each other one
 */
export function documentTexts(documents: readonly JsonValue[], loc: Location): readonly string[] {
  const issues: Issue[] = [];
  const texts = documents.map((document, at) => {
    const text = isJsonObject(document) ? (document.get("text") ?? null) : document;
    if (typeof text === "string") return text;
    const came = isJsonObject(document)
      ? `an object with ${describeText(document.get("text"))}`
      : describeKind(document);
    const msg = `Must be a string, or an object with a string "text", not ${came}.`;
    issues.push({ loc: [...loc, at], msg, type: "wrong_type" });
    return "";
  });
  if (issues.length > 0) throw invalidRequest(issues);
  return texts;
}

function describeText(text: JsonValue | undefined): string {
  return text === undefined ? "none" : `${describeKind(text)} as "text"`;
}
