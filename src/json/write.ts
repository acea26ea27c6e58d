import { JsonNumber } from "./value.ts";

/**
 * Writes an answer as JSON text. Accepts Maps (as objects in their order), plain objects, arrays, JsonValues and
 * scalars. Numbers are written in the shortest form that reads back. Undefined members are omitted.
 *
 * Why not JSON.stringify: it moves integer-like names to the front of an object and does not write Maps.
 * @throws TypeError on a number that is not finite, and on values that JSON cannot represent
 */
export function writeJson(value: unknown): string {
  const pieces: string[] = []; // joined once at the end: joining level by level would copy long texts at each level
  write(value, pieces);
  return pieces.join("");
}

function write(value: unknown, pieces: string[]): void {
  if (value === null) pieces.push("null");
  else if (value instanceof JsonNumber) pieces.push(value.text);
  else if (Array.isArray(value)) writeArray(value, pieces);
  else if (typeof value === "object") writeObject(value, pieces);
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

function writeArray(items: readonly unknown[], pieces: string[]): void {
  let before = "[";
  for (const item of items) {
    pieces.push(before);
    write(item, pieces);
    before = ",";
  }
  pieces.push(items.length === 0 ? "[]" : "]");
}

function writeObject(value: object, pieces: string[]): void {
  const members: Iterable<readonly [unknown, unknown]> = value instanceof Map ? value : Object.entries(value);
  let before = "{";
  for (const [name, member] of members) {
    if (member === undefined) continue;
    pieces.push(before, JSON.stringify(String(name)), ":");
    write(member, pieces);
    before = ",";
  }
  pieces.push(before === "{" ? "{}" : "}");
}
