import { JsonNumber } from "./value.ts";

/**
 * Writes an answer as JSON text. Accepts Maps (as objects in their order), plain objects, arrays, JsonValues and
 * scalars. Numbers are written in the shortest form that reads back. Undefined members are omitted.
 *
 * Why not JSON.stringify: it moves integer-like names to the front of an object and does not write Maps.
 * @throws TypeError on a number that is not finite, and on values that JSON cannot represent
 */
export function writeJson(value: unknown): string {
  const writing: Writing = { pieces: [], names: new Map() };
  write(value, writing);
  return writing.pieces.join("");
}

interface Writing {
  /** Joined once at the end. Joining level by level would copy long texts at each level. */
  readonly pieces: string[];
  /** Cache of quoted names: each label occurs in probabilities and in scores. */
  readonly names: Map<string, string>;
}

function write(value: unknown, writing: Writing): void {
  const { pieces } = writing;
  if (value === null) pieces.push("null");
  else if (value instanceof JsonNumber) pieces.push(value.text);
  else if (Array.isArray(value)) writeArray(value, writing);
  else if (typeof value === "object") writeObject(value, writing);
  else pieces.push(scalarText(value));
}

function scalarText(value: unknown): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError("JSON has no form for a number that is not finite");
      return JSON.stringify(value);
    default:
      throw new TypeError(`JSON has no form for a ${typeof value}`);
  }
}

function writeArray(items: readonly unknown[], writing: Writing): void {
  const { pieces } = writing;
  let before = "[";
  for (const item of items) {
    pieces.push(before);
    write(item, writing);
    before = ",";
  }
  pieces.push(items.length === 0 ? "[]" : "]");
}

function writeObject(value: object, writing: Writing): void {
  const { pieces } = writing;
  const members: Iterable<readonly [unknown, unknown]> = value instanceof Map ? value : Object.entries(value);
  let before = "{";
  for (const [name, member] of members) {
    if (member === undefined) continue;
    pieces.push(before, quoted(String(name), writing), ":");
    write(member, writing);
    before = ",";
  }
  pieces.push(before === "{" ? "{}" : "}");
}

function quoted(name: string, { names }: Writing): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify(name);
  names.set(name, text);
  return text;
}
