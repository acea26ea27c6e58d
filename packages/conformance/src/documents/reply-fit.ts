import type { Reply } from "../client/exchange.ts";
import { at, isMap, type Json } from "../client/json.ts";
import type { Schemas } from "./schemas.ts";

/**
 * Describes how an answer differs from what a document declares; undefined if it fits.
 *
 * @param operation the operation's place in the document: `paths`, a path, a method
 * @param isStrict whether an undeclared status or a missing schema is a misfit too
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
    return isStrict ? `an invalid schema: ${error instanceof Error ? error.message : error}` : undefined;
  }
}

/** The path of a `$ref` within its document. */
export function pointerSteps(reference: string): readonly string[] {
  return reference
    .replace(/^#\//, "")
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}
