/**
 * A JSON value read without loss: members in the order sent (integer-like names too), numbers with their
 * digits, `__proto__` as plain data.
 */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/** Members in the order sent. */
export type JsonObject = ReadonlyMap<string, JsonValue>;

/** A number as it was written. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return value instanceof Map;
}

export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The kind of a value in words, for messages: `an object`, `null`, ... */
export function describeKind(value: JsonValue): string {
  if (value === null) return "null";
  if (typeof value === "string") return "a string";
  if (typeof value === "boolean") return "a boolean";
  if (value instanceof JsonNumber) return "a number";
  return isJsonObject(value) ? "an object" : "an array";
}
