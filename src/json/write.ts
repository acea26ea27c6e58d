import { JsonNumber } from "./value.ts";

/**
 * JSON text of an answer: Maps as objects in their order, plain objects, arrays, JsonValues and scalars.
 * Numbers come out in the shortest form that reads back; members that are undefined are left out.
 *
 * JSON.stringify cannot: it moves integer-like names to the front of an object, and knows no Maps.
 * @throws TypeError on a number that is not finite and on what JSON has no form for
 */
export function writeJson(value: unknown): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError("JSON has no form for a number that is not finite");
      return JSON.stringify(value);
    case "object":
      return writeObject(value);
    default:
      throw new TypeError(`JSON has no form for a ${typeof value}`);
  }
}

function writeObject(value: object): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`;
  const members: [unknown, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
  const written = members
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(String(name))}:${writeJson(member)}`);
  return `{${written.join(",")}}`;
}
