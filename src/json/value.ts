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
