import type { Reply } from "../client/exchange.ts";
import { at, isMap, type Json } from "../client/json.ts";
import type { Schemas } from "./schemas.ts";

/**
 * What does not fit a document's words about an answer; undefined where everything does.
 *
 * @param operation its place in the document: `paths`, a path, a method
 * @param isStrict whether a status or a schema that the document lacks is a misfit too
 */
export function misfitOf(
  document: Json,
  schemas: Schemas,
  operation: readonly string[],
  { status, json }: Reply,
  isStrict: boolean,
): string | undefined {
  const place = [...operation, "responses", String(status)];
  const given = at(document, ...place);
  if (given === undefined) return isStrict ? "a status that the document does not have" : undefined;
  const reference = at(given, "$ref");
  const response = typeof reference === "string" ? pointerSteps(reference) : place;
  const body = [...response, "content", "application/json"];
  if (at(document, ...body, "schema") === undefined)
    return isStrict && isMap(given) ? "no schema" : undefined;
  if (json === undefined) return "no JSON";
  try {
    return schemas.misfitAt([...body, "schema"], json);
  } catch (error) {
    return isStrict
      ? `a schema that cannot be read: ${error instanceof Error ? error.message : error}`
      : undefined;
  }
}

/** The steps of a `$ref` within its document. */
export function pointerSteps(reference: string): readonly string[] {
  return reference
    .replace(/^#\//, "")
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}
