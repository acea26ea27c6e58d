import type { Issue, Location } from "../../errors.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../json/value.ts";

/**
 * A state as its sender meant it: the AI SDK sends a list of parts, `{"type": "text", "text": ...}` or
 * `{"type": "json", "value": ...}`. A list that holds anything else is a state like any other.
 *
 * @returns the content of the part; of several, the list of their contents. Parts with files are added to `issues`.
 */
export function unwrapState(state: JsonValue, loc: Location, issues: Issue[]): JsonValue {
  if (!isJsonArray(state) || state.length === 0) return state;
  const contents: JsonValue[] = [];
  for (const [position, part] of state.entries()) {
    if (isFilePart(part)) {
      const msg = "Expected parts with a text or JSON value, got one with a file; files are not supported.";
      issues.push({ loc: [...loc, position], msg, type: "unknown_value" });
      continue;
    }
    const content = contentOf(part);
    if (content === undefined) return state;
    contents.push(content);
  }
  return contents.length === 1 ? (contents[0] ?? null) : contents;
}

/** Members of a part that SDKs send along for a provider. */
const METADATA = new Set([
  "providerOptions",
  "providerMetadata",
  "experimental_providerMetadata",
  "cache_control",
]);

/** Undefined unless the value is a part and holds nothing besides. */
function contentOf(part: JsonValue): JsonValue | undefined {
  if (!isJsonObject(part)) return undefined;
  const isText = part.get("type") === "text" && typeof part.get("text") === "string";
  const name = isText ? "text" : part.get("type") === "json" ? "value" : undefined;
  const isPart = [...part].every(
    ([member, value]) => member === "type" || member === name || value === null || METADATA.has(member),
  );
  return name !== undefined && isPart ? part.get(name) : undefined;
}

/** @see https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message (FilePart) */
function isFilePart(part: JsonValue): part is JsonObject {
  return isJsonObject(part) && part.get("type") === "file" && part.has("mediaType") && part.has("data");
}
