import { isRecord } from "../records.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonValue } from "./value.ts";

/** Number of unknown members kept of a closed object: one more than an error lists. */
const MAX_UNKNOWN_MEMBERS = 21;

/** Two forms of a value. Where the schema admits any JSON, both are the value itself. */
export interface Views {
  /** For the validator: plain JavaScript objects and arrays. They lose the order of names such as "2" and "10". */
  readonly plain: unknown;
  /** For the handler: the same, but an object whose names the caller chooses is a Map in the order sent. */
  readonly ordered: unknown;
}

/** Creates both views of a value in one walk. ajv validates plain objects only, and handlers need the order. */
export type Viewer = (value: JsonValue) => Views;

/**
 * Type of the ordered view of a valid value. @typeParam T the generated type; members that may be any JSON are unknown
 */
export type Received<T> = unknown extends T
  ? JsonValue
  : T extends readonly (infer Item)[]
    ? readonly Received<Item>[]
    : T extends object
      ? string extends keyof T
        ? ReadonlyMap<string, Received<T[keyof T]>>
        : { readonly [Name in keyof T]: Received<T[Name]> }
      : T;

/** An object of an OpenAPI 3.0 document. */
type Schema = Readonly<Record<string, unknown>>;

/**
 * The viewer of a schema's values.
 *
 * The schema bounds the cost: of members and items beyond a maximum only one is kept, which is enough to refuse the
 * body. Values of the wrong kind are not entered. Plain objects have no prototype, so `__proto__` is an ordinary name.
 *
 * @param schema   an OpenAPI 3.0 schema without allOf and anyOf that does not contain itself
 * @param document the document that its $refs point into
 * @throws Error if a $ref is broken
 */
export function viewerOf(schema: unknown, document: unknown): Viewer {
  if (!isRecord(schema)) return same;
  const inner = (part: unknown) => viewerOf(part, document);
  if (typeof schema.$ref === "string") return inner(lookUp(schema.$ref, document));
  if (Array.isArray(schema.oneOf)) {
    const members = schema.oneOf.map((member) => ({
      view: inner(member),
      schema: resolved(member, document),
    }));
    return isRecord(schema.discriminator)
      ? taggedViewer(members, String(schema.discriminator.propertyName), inner)
      : kindViewer(members);
  }
  if (schema.type === "object") return objectViewer(schema, inner);
  if (schema.type === "array") return arrayViewer(schema, inner);
  return schema.type === undefined ? same : leaf;
}

const same = (value: unknown): Views => ({ plain: value, ordered: value });

/** The views of a value that is not entered: one without parts, or of another kind than the schema's. */
function leaf(value: JsonValue): Views {
  if (value instanceof JsonNumber) return same(Number(value.text));
  if (isJsonArray(value)) return same([]);
  return same(isJsonObject(value) ? {} : value);
}

function objectViewer(schema: Schema, inner: (part: unknown) => Viewer): Viewer {
  const declared = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const properties = new Map(declared.map(([name, property]) => [name, inner(property)]));
  const isMap = isRecord(schema.additionalProperties);
  const other = inner(schema.additionalProperties);
  const isClosed = schema.additionalProperties === false;
  const room = Math.min(isClosed ? MAX_UNKNOWN_MEMBERS : Infinity, boundOf(schema.maxProperties) + 1);
  return (value) => {
    if (!isJsonObject(value)) return leaf(value);
    // Object.create gives `any`; without a prototype, `plain["__proto__"] = ...` defines a member.
    const plain: Record<string, unknown> = Object.create(null);
    const members = new Map<string, unknown>();
    const add = (name: string, member: JsonValue, view: Viewer) => {
      const views = view(member);
      plain[name] = views.plain;
      members.set(name, views.ordered);
    };
    for (const [name, view] of properties) {
      const member = value.get(name);
      if (member !== undefined) add(name, member, view);
    }
    let others = 0;
    for (const [name, member] of value) {
      if (properties.has(name)) continue;
      if (++others > room) break;
      add(name, member, other);
    }
    return { plain, ordered: isMap ? members : Object.fromEntries(members) };
  };
}

function arrayViewer(schema: Schema, inner: (part: unknown) => Viewer): Viewer {
  const item = inner(schema.items);
  const room = boundOf(schema.maxItems) + 1;
  return (value) => {
    if (!isJsonArray(value)) return leaf(value);
    const views = value.slice(0, room).map(item);
    return { plain: views.map(({ plain }) => plain), ordered: views.map(({ ordered }) => ordered) };
  };
}

/** A member of a union. */
interface Member {
  readonly schema: Schema;
  readonly view: Viewer;
}

/** By the one-value enum of each member, which generated clients use too. The copy for ajv has no `mapping`. */
function taggedViewer(members: readonly Member[], tag: string, inner: (part: unknown) => Viewer): Viewer {
  const byTag = new Map(members.flatMap(({ schema, view }) => tagsOf(schema, tag).map((key) => [key, view])));
  // keeps an unknown tag, so that validation can report it
  const unknown = objectViewer({ properties: { [tag]: {} }, additionalProperties: false }, inner);
  return (value) => ((isJsonObject(value) && byTag.get(value.get(tag))) || unknown)(value);
}

function tagsOf({ properties }: Schema, tag: string): readonly unknown[] {
  const schema = isRecord(properties) ? properties[tag] : undefined;
  return isRecord(schema) && Array.isArray(schema.enum) ? schema.enum : [];
}

/** A union without tags, whose members are of different kinds. */
function kindViewer(members: readonly Member[]): Viewer {
  const byKind = new Map(members.map(({ schema, view }) => [schema.type, view]));
  return (value) => (byKind.get(kindOf(value)) ?? leaf)(value);
}

function kindOf(value: JsonValue): string {
  return isJsonObject(value) ? "object" : isJsonArray(value) ? "array" : typeof value;
}

/** The schema that is meant. Its $refs are no circle. */
function resolved(schema: unknown, document: unknown): Schema {
  if (!isRecord(schema)) return {};
  return typeof schema.$ref === "string" ? resolved(lookUp(schema.$ref, document), document) : schema;
}

/** Follows a local JSON pointer (RFC 6901) such as `#/components/schemas/Question`. */
function lookUp(reference: string, document: unknown): unknown {
  const steps = reference.split("/").slice(1);
  const target = steps.reduce<unknown>((place, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return isRecord(place) ? place[name] : undefined;
  }, document);
  if (!reference.startsWith("#/") || target === undefined)
    throw new Error(`The contract has nothing at ${reference}.`);
  return target;
}

function boundOf(maximum: unknown): number {
  return typeof maximum === "number" ? maximum : Infinity;
}
