import { isRecord } from "../records.ts";
/** A JSON object of the contract's document. */
export type Schema = Readonly<Record<string, unknown>>;

/** A longer chain of $refs is taken as a cycle. Chosen: far above the contract's. */
const MAX_CHAIN = 64;
/**
 * Levels of arrays directly in arrays in the schema of any JSON value, which has an end since no list lacks types.
 * Chosen: a table is a list of lists.
 */
const ARRAY_LEVELS = 2;

/**
 * Converts a schema of an OpenAPI 3.0 document to JSON Schema (draft 2020-12), in a form that all model APIs take to
 * which hosts pass tool schemas. Some refuse all tools of a host if one schema has a reference, `oneOf`, a list as
 * `type`, or a part without a type.
 *
 * @param document the document that $refs point into
 * @throws Error for an unresolvable or cyclic $ref
 */
export function toJsonSchema(schema: unknown, document: Schema, hops = 0): Schema {
  if (hops > MAX_CHAIN) throw new Error("A schema of the contract refers to itself.");
  const inner = (node: unknown) => toJsonSchema(node, document, hops + 1);
  if (!isRecord(schema)) throw new Error("A schema of the contract is not an object.");
  if (typeof schema.$ref === "string") return inner(lookUp(schema.$ref, document));
  const { description, nullable, discriminator: _, format: __, example: ___, oneOf, ...kept } = schema;
  const { properties, additionalProperties, items, anyOf = oneOf } = kept;
  const converted = {
    ...kept,
    ...(isRecord(properties) && { properties: mapValues(properties, inner) }),
    ...(isRecord(additionalProperties) && { additionalProperties: inner(additionalProperties) }),
    ...(items !== undefined && { items: inner(items) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map(inner) }),
  };
  const hasType = ["type", "anyOf", "enum"].some((keyword) => keyword in converted);
  const typed = hasType ? converted : { ...converted, anyOf: anyJson(ARRAY_LEVELS) };
  return {
    ...(description !== undefined && { description }),
    ...(nullable === true ? { anyOf: [typed, { type: "null" }] } : typed),
  };
}

function anyJson(arrayLevels: number): readonly Schema[] {
  const types = ["string", "object", "number", "boolean", "null"].map((type) => ({ type }));
  return arrayLevels === 0
    ? types
    : [...types, { type: "array", items: { anyOf: anyJson(arrayLevels - 1) } }];
}

/** Resolves a local JSON pointer (RFC 6901) such as `#/components/schemas/Question`. */
function lookUp(pointer: string, document: Schema): unknown {
  const steps = pointer.split("/").slice(1);
  const found = steps.reduce<unknown>(
    (node, step) => (isRecord(node) ? node[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined),
    document,
  );
  if (found === undefined) throw new Error(`The contract has nothing at ${pointer}.`);
  return found;
}

function mapValues(object: Schema, change: (value: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}
