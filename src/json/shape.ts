import { ServiceError } from "../errors.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "./value.ts";

/** An object of an OpenAPI 3.0 document. */
type Schema = Readonly<Record<string, unknown>>;

/** The part of a schema that decides how a value is converted. */
export interface Shape {
  /** Declared properties: name -> schema. */
  readonly properties: ReadonlyMap<string, unknown>;
  /** Schema of other members; undefined means any JSON. */
  readonly otherMembers: unknown;
  readonly isClosed: boolean;
  readonly maxMembers: number;
  /** Schema of array items; undefined means any JSON. */
  readonly items: unknown;
  readonly maxItems: number;
  readonly takesObjects: boolean;
  readonly takesArrays: boolean;
}

/** A longer chain of $refs and unions is circular. */
const MAX_CHAIN = 32;

const TYPING_KEYWORDS = ["type", "properties", "additionalProperties", "items"];
const SHAPING_KEYWORDS = [...TYPING_KEYWORDS, "maxProperties", "maxItems", "allOf"];

/** Shapes of schemas that have the same shape for each value. */
const shapes = new WeakMap<Schema, { readonly shape: Shape | undefined }>();
/** Members of unions, by the tag or by the kind of the values that they fit. */
const membersOf = new WeakMap<readonly unknown[], Map<unknown, unknown>>();

/** A search for the schemas of a value. */
interface Search {
  readonly value: JsonValue;
  /** The OpenAPI document that the $refs point into. */
  readonly document: unknown;
  /** Whether a union was found, so that the schemas depend on the value. */
  hasUnion: boolean;
}

/**
 * The shape of a value according to a schema; undefined if the schema admits any JSON.
 *
 * Follows $ref, allOf, and oneOf or anyOf (by discriminator, else by the kind of the value). Schema and document must not change
 * afterwards, because shapes are kept.
 * @param document the OpenAPI document that the $refs point into
 * @throws ServiceError INTERNAL if a $ref is broken or circular
 */
export function shapeOf(schema: unknown, value: JsonValue, document: unknown): Shape | undefined {
  if (!isSchema(schema)) return undefined;
  const known = shapes.get(schema);
  if (known !== undefined) return known.shape;
  const search = { value, document, hasUnion: false };
  const parts = partsOf(schema, search, 0);
  const [only] = parts;
  // a schema that is its only part cannot be followed further
  const isMere = parts.length === 1 && only !== schema;
  const shape = isMere ? shapeOf(only, value, document) : combined(parts);
  if (!search.hasUnion) shapes.set(schema, { shape });
  return shape;
}

function combined(parts: readonly Schema[]): Shape | undefined {
  if (!parts.some((part) => TYPING_KEYWORDS.some((keyword) => keyword in part))) return undefined;
  const find = (keyword: string) => parts.find((part) => keyword in part)?.[keyword];
  const type = find("type");
  const bound = (keyword: string) => Math.min(...parts.map((part) => Number(part[keyword] ?? Infinity)));
  return {
    properties: new Map(
      parts.flatMap((part) => (isSchema(part.properties) ? Object.entries(part.properties) : [])),
    ),
    otherMembers: parts.map((part) => part.additionalProperties).find(isSchema),
    isClosed: parts.some((part) => part.additionalProperties === false),
    maxMembers: bound("maxProperties"),
    items: find("items"),
    maxItems: bound("maxItems"),
    takesObjects: type === undefined || type === "object",
    takesArrays: type === undefined || type === "array",
  };
}

/** The schemas that apply to the value together, after resolving $refs and unions. */
function partsOf(schema: unknown, search: Search, hops: number): Schema[] {
  if (!isSchema(schema)) return [];
  if (hops > MAX_CHAIN) throw new ServiceError("INTERNAL", "A schema of the contract refers to itself.");
  const follow = (next: unknown) => partsOf(next, search, hops + 1);
  if (typeof schema.$ref === "string") return follow(lookUp(schema.$ref, search.document));
  const whole = Array.isArray(schema.allOf) ? schema.allOf.flatMap(follow) : [];
  const union: unknown = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(union)) return [schema, ...whole];
  search.hasUnion = true;
  const member = follow(memberOf(union, schema.discriminator, search));
  return SHAPING_KEYWORDS.some((keyword) => keyword in schema) ? [schema, ...whole, ...member] : member;
}

/** The member of a union that fits the value, by its tag if the union has a discriminator, else by its kind. */
function memberOf(union: readonly unknown[], discriminator: unknown, search: Search): unknown {
  const { value } = search;
  const property = isSchema(discriminator) ? String(discriminator.propertyName) : undefined;
  const key = property === undefined ? kindOf(value) : isJsonObject(value) ? value.get(property) : undefined;
  const known = membersOf.get(union) ?? new Map<unknown, unknown>();
  membersOf.set(union, known);
  const parts = (candidate: unknown) => partsOf(candidate, { ...search, value: null }, 0);
  const member =
    known.get(key) ??
    union.find((candidate) =>
      parts(candidate).some((part) =>
        property === undefined ? part.type === key : hasTag(part, property, key),
      ),
    );
  if (member !== undefined) known.set(key, member); // only those: callers choose tags
  if (property === undefined) return member ?? { type: "string" };
  // keeps the tag, so that validation can report it
  return member ?? { type: "object", properties: { [property]: {} }, additionalProperties: false };
}

function kindOf(value: JsonValue): string {
  return isJsonObject(value) ? "object" : isJsonArray(value) ? "array" : typeof value;
}

/** By the one-value enum of each member, as generated clients do. The copy for ajv has no `mapping`. */
function hasTag({ properties }: Schema, property: string, tag: unknown): boolean {
  const tagSchema = isSchema(properties) ? properties[property] : undefined;
  return isSchema(tagSchema) && Array.isArray(tagSchema.enum) && tagSchema.enum.includes(tag);
}

/** Follows a local JSON pointer (RFC 6901) such as `#/components/schemas/Question`. */
function lookUp(reference: string, document: unknown): unknown {
  const steps = reference.split("/").slice(1);
  const target = steps.reduce<unknown>((place, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return isSchema(place) ? place[name] : undefined;
  }, document);
  if (!reference.startsWith("#/") || target === undefined) {
    throw new ServiceError("INTERNAL", `The contract has nothing at ${reference}.`);
  }
  return target;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
