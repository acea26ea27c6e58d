import { ServiceError } from "../errors.ts";
import { type Shape, shapeOf } from "./shape.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "./value.ts";

/** Unknown members that a closed object keeps: one more than the issues that an error lists. */
const MAX_UNKNOWN_MEMBERS = 21;

/** What each converted object or array was made from. */
const sources = new WeakMap<object, JsonObject | readonly JsonValue[]>();

/**
 * Converts a value as far as a schema looks into it: typed objects become plain objects, typed arrays arrays,
 * numbers JavaScript numbers. Where the schema admits any JSON, the value passes as it is, unwalked.
 *
 * The cost is bounded by the schema: of members and items over a bound only one is kept (enough to be refused),
 * of a value of the wrong kind nothing. Plain objects have no prototype, so `__proto__` is a name like any other.
 *
 * @param schema   an OpenAPI 3.0 schema
 * @param document the document that its $refs point into
 * @throws ServiceError INTERNAL when a $ref leads nowhere or in a circle
 */
export function toPlain(value: JsonValue, schema: unknown, document: unknown): unknown {
  const shape = shapeOf(schema, value, document);
  if (shape === undefined) return value;
  if (value instanceof JsonNumber) return Number(value.text);
  if (isJsonObject(value)) return plainObject(value, shape, document);
  if (isJsonArray(value)) return plainArray(value, shape, document);
  return value;
}

function plainObject(value: JsonObject, shape: Shape, document: unknown): object {
  // Object.create gives `any`; without a prototype, `plain["__proto__"] = ...` defines a member.
  const plain: Record<string, unknown> = Object.create(null);
  sources.set(plain, value);
  if (!shape.takesObjects) return plain;
  for (const [name, schema] of shape.properties) {
    const member = value.get(name);
    if (member !== undefined) plain[name] = toPlain(member, schema, document);
  }
  const room = Math.min(shape.isClosed ? MAX_UNKNOWN_MEMBERS : Infinity, shape.maxMembers + 1);
  let others = 0;
  for (const [name, member] of value) {
    if (shape.properties.has(name)) continue;
    if (++others > room) break;
    plain[name] = toPlain(member, shape.otherMembers, document);
  }
  return plain;
}

function plainArray(value: readonly JsonValue[], shape: Shape, document: unknown): unknown[] {
  const room = shape.takesArrays ? shape.maxItems + 1 : 0;
  const plain = value.slice(0, room).map((item) => toPlain(item, shape.items, document));
  sources.set(plain, value);
  return plain;
}

/** How many members or items came, those included that `toPlain` left out. */
export function countMembers(plain: object): number {
  const source = sources.get(plain);
  if (source === undefined) return Object.keys(plain).length;
  return isJsonObject(source) ? source.size : source.length;
}

/** The names of an object's members in the order sent; for an object that `toPlain` did not make, in its own. */
export function namesInOrder(plain: object): readonly string[] {
  const source = sources.get(plain);
  return isJsonObject(source) ? [...source.keys()] : Object.keys(plain);
}

/** The members that an object has, in the order sent. */
export function membersInOrder<T>(plain: Readonly<Record<string, T>>): readonly (readonly [string, T])[] {
  const members = new Map(Object.entries(plain));
  return namesInOrder(plain).flatMap((name) => {
    const member = members.get(name);
    return member === undefined ? [] : [[name, member] as const];
  });
}

/**
 * A value that `toPlain` passed as it was, under its own type again: generated types call it unknown.
 * @throws ServiceError INTERNAL on what `toPlain` never leaves in such a place
 */
export function asJson(value: unknown): JsonValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (value instanceof JsonNumber || isJsonObject(value) || isJsonArray(value)) return value;
  throw new ServiceError("INTERNAL", "A value of the request was not read as JSON.");
}
