import { at, isList, isMap, type Json, type JsonMap } from "../../client/json.ts";

/** A longer chain of references is taken as a cycle. Chosen. */
const MAX_CHAIN = 64;
/** Keywords left out of the comparison: those of OpenAPI only, annotations, and containers of referenced schemas. */
const LEFT_OUT = new Set(["discriminator", "format", "nullable", "$schema", "$id", "$defs", "definitions"]);
const SAME_WORD: Readonly<Record<string, string>> = { anyOf: "oneOf" };
/** Members of a schema that lists types and bounds nothing. */
const BARE = new Set(["type", "description", "items"]);
const ALL_TYPES = ["array", "boolean", "null", "number", "object", "string"];

/**
 * Normalizes a schema, so that OpenAPI 3.0 and JSON Schema can be compared. Resolves references, writes null as a type
 * and `const` as `enum`, drops subschemas that allow everything, and lists of all types: some model APIs require a type
 * everywhere.
 *
 * @param document the document that references point into
 * @throws Error for an unresolvable or cyclic reference
 */
export function canonicalSchema(schema: Json, document: Json, hops = 0): Json {
  if (hops > MAX_CHAIN) throw new Error("a schema refers to itself");
  const inner = (node: Json) => canonicalSchema(node, document, hops + 1);
  if (isList(schema)) return schema.map(inner);
  if (!isMap(schema)) return schema;
  const reference = schema.get("$ref");
  if (typeof reference === "string") return inner(lookUp(reference, document));
  const members = [...schema].flatMap(([name, value]): [string, Json][] => {
    if (LEFT_OUT.has(name)) return [];
    if (name === "type") return [[name, typesOf(schema)]];
    if (name === "const") return [["enum", [value]]];
    // below these, keys are member names, not keywords
    if (name === "properties" && isMap(value)) return [[name, mapValues(value, inner)]];
    const converted = inner(value);
    if (name === "additionalProperties" && allowsAll(converted)) return [];
    return [[SAME_WORD[name] ?? name, converted]];
  });
  return simplified(new Map(members));
}

/** Writes a list of all types as no type, and a schema or null as one schema with the type null. */
function simplified(schema: JsonMap): JsonMap {
  const given = schema.get("oneOf");
  const alternatives = isList(given) ? given.filter(isMap) : [schema];
  const types = new Set(alternatives.flatMap((alternative) => alternative.get("type") ?? []));
  const isBare = alternatives.every((alternative) => [...alternative.keys()].every((name) => BARE.has(name)));
  if (isBare && ALL_TYPES.every((type) => types.has(type))) return new Map();
  const [one, ...others] = alternatives.filter((alternative) => alternative.get("type") !== "null");
  if (!isList(given) || one === undefined || others.length > 0) return schema;
  const type = typesOf(new Map([...one, ["nullable", alternatives.length > 1]]));
  return new Map([...[...schema].filter(([name]) => name !== "oneOf"), ...one, ["type", type]]);
}

function typesOf(schema: JsonMap): Json {
  const given = schema.get("type") ?? [];
  const types = new Set(isList(given) ? given : [given]);
  if (schema.get("nullable") === true) types.add("null");
  const [only] = types;
  return types.size === 1 && only !== undefined ? only : [...types].toSorted();
}

function allowsAll(value: Json): boolean {
  return value === true || (isMap(value) && [...value.keys()].every((name) => name === "description"));
}

function mapValues(map: JsonMap, change: (value: Json) => Json): JsonMap {
  return new Map([...map].map(([name, value]) => [name, change(value)]));
}

/** Resolves a local JSON pointer (RFC 6901). */
function lookUp(pointer: string, document: Json): Json {
  const steps = pointer.split("/").slice(1);
  const found = at(document, ...steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")));
  if (found === undefined) throw new Error(`a schema refers to ${pointer}, which does not exist`);
  return found;
}
