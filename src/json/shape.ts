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

/**
 * The shape of a value according to a schema; undefined if the schema admits any JSON.
 *
 * Follows $ref, allOf, and oneOf or anyOf (by discriminator, else by the kind of the value).
 * @param document the OpenAPI document that the $refs point into
 * @throws ServiceError INTERNAL if a $ref is broken or circular
 */
export function shapeOf(schema: unknown, value: JsonValue, document: unknown): Shape | undefined {
  const parts = partsOf(schema, value, document, 0);
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
function partsOf(schema: unknown, value: JsonValue, document: unknown, hops: number): Schema[] {
  if (!isSchema(schema)) return [];
  if (hops > MAX_CHAIN) throw new ServiceError("INTERNAL", "A schema of the contract refers to itself.");
  const follow = (next: unknown) => partsOf(next, value, document, hops + 1);
  if (typeof schema.$ref === "string") return follow(lookUp(schema.$ref, document));
  const whole = Array.isArray(schema.allOf) ? schema.allOf.flatMap(follow) : [];
  const union: unknown = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(union)) return [schema, ...whole];
  const member = isSchema(schema.discriminator)
    ? memberByTag(union, String(schema.discriminator.propertyName), value, document)
    : memberByKind(union, value, document);
  return [schema, ...whole, ...follow(member)];
}

/** If no member of the union has the value's tag: a shape that keeps the tag, so that validation can report it. */
function memberByTag(union: unknown[], property: string, value: JsonValue, document: unknown): unknown {
  const tag = isJsonObject(value) ? value.get(property) : undefined;
  // By the one-value enum of each member, as generated clients do. The copy for ajv has no `mapping`.
  const member = union.find((candidate) =>
    partsOf(candidate, null, document, 0).some((part) => {
      const tagSchema = isSchema(part.properties) ? part.properties[property] : undefined;
      return isSchema(tagSchema) && Array.isArray(tagSchema.enum) && tagSchema.enum.includes(tag);
    }),
  );
  return member ?? { type: "object", properties: { [property]: {} }, additionalProperties: false };
}

function memberByKind(union: unknown[], value: JsonValue, document: unknown): unknown {
  const kind = isJsonObject(value) ? "object" : isJsonArray(value) ? "array" : typeof value;
  const fits = (candidate: unknown) =>
    partsOf(candidate, null, document, 0).some((part) => part.type === kind);
  return union.find(fits) ?? { type: "string" };
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
