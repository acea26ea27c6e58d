/** A number or a text, such as 8700 or "http". */
export const EITHER = { anyOf: [{ type: "string" }, { type: "integer" }] };

/**
 * A schema with nothing but what decides: its texts are gone, and an object takes no member that is not named.
 *
 * @param collect told the name of each definition that is referred to
 */
export function strictSchema(schema, collect) {
  if (Array.isArray(schema)) return schema.map((each) => strictSchema(each, collect));
  if (typeof schema !== "object" || schema === null) return schema;
  if (schema["x-kubernetes-int-or-string"]) return EITHER;
  const result = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "description" || key === "default" || key === "format" || key.startsWith("x-kubernetes-"))
      continue;
    if (key === "$ref") {
      const name = value.split("/").at(-1);
      collect(name);
      result.$ref = `#/definitions/${name}`;
    } else if (key === "properties") {
      result.properties = Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, strictSchema(each, collect)]),
      );
      if (!schema["x-kubernetes-preserve-unknown-fields"]) result.additionalProperties ??= false;
    } else result[key] = strictSchema(value, collect);
  }
  return result;
}
