import { type Shape, shapeOf } from "./shape.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "./value.ts";

/** Number of unknown members kept of a closed object: one more than an error lists. */
const MAX_UNKNOWN_MEMBERS = 21;

/** Two forms of a value. Where the schema admits any JSON, both are the value itself. */
export interface Views {
  /** For the validator: plain JavaScript objects and arrays. They lose the order of names such as "2" and "10". */
  readonly plain: unknown;
  /** For the handler: the same, but an object whose names the caller chooses is a Map in the order sent. */
  readonly ordered: unknown;
}

/** Type of the ordered view of a valid value. @typeParam T the generated type; members that may be any JSON are unknown */
export type Received<T> = unknown extends T
  ? JsonValue
  : T extends readonly (infer Item)[]
    ? readonly Received<Item>[]
    : T extends object
      ? string extends keyof T
        ? ReadonlyMap<string, Received<T[keyof T]>>
        : { readonly [Name in keyof T]: Received<T[Name]> }
      : T;

/**
 * Creates both views in one walk. ajv validates plain objects only, and handlers need the order.
 *
 * The schema bounds the cost: of members and items beyond a maximum only one is kept, which is enough to refuse the body.
 * Values of the wrong kind are not entered. Plain objects have no prototype, so `__proto__` is an ordinary name.
 *
 * @param schema   an OpenAPI 3.0 schema
 * @param document the document that its $refs point into
 * @throws ServiceError INTERNAL if a $ref is broken or circular
 */
export function viewsOf(value: JsonValue, schema: unknown, document: unknown): Views {
  const shape = shapeOf(schema, value, document);
  if (shape === undefined) return same(value);
  if (value instanceof JsonNumber) return same(Number(value.text));
  if (isJsonObject(value)) return objectViews(value, shape, document);
  if (isJsonArray(value)) return arrayViews(value, shape, document);
  return same(value);
}

const same = (value: unknown): Views => ({ plain: value, ordered: value });

function objectViews(value: JsonObject, shape: Shape, document: unknown): Views {
  // Object.create gives `any`; without a prototype, `plain["__proto__"] = ...` defines a member.
  const plain: Record<string, unknown> = Object.create(null);
  const members = new Map<string, unknown>();
  const add = (name: string, member: JsonValue, schema: unknown) => {
    const views = viewsOf(member, schema, document);
    plain[name] = views.plain;
    members.set(name, views.ordered);
  };
  if (!shape.takesObjects) return same(plain);
  for (const [name, schema] of shape.properties) {
    const member = value.get(name);
    if (member !== undefined) add(name, member, schema);
  }
  const room = Math.min(shape.isClosed ? MAX_UNKNOWN_MEMBERS : Infinity, shape.maxMembers + 1);
  let others = 0;
  for (const [name, member] of value) {
    if (shape.properties.has(name)) continue;
    if (++others > room) break;
    add(name, member, shape.otherMembers);
  }
  return { plain, ordered: shape.otherMembers === undefined ? Object.fromEntries(members) : members };
}

function arrayViews(value: readonly JsonValue[], shape: Shape, document: unknown): Views {
  const room = shape.takesArrays ? shape.maxItems + 1 : 0;
  const views = value.slice(0, room).map((item) => viewsOf(item, shape.items, document));
  return { plain: views.map(({ plain }) => plain), ordered: views.map(({ ordered }) => ordered) };
}
