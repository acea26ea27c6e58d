import { ServiceError } from "../errors.ts";
import { readSteps } from "../json/read.ts";
import { runSliced, type Steps } from "../json/slices.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "../json/value.ts";
import type { SentArguments } from "./messages.ts";
import { isSchema, type Schema } from "./schemas.ts";

/**
 * The arguments of a call as the contract wants them. Hosts and models write some in other forms, whose meaning is clear:
 *
 *     null or "" for an optional member        as if the member were missing
 *     a text where none is allowed              the JSON value in it, if that is allowed
 *
 * All else is left as it is, for the contract to refuse.
 *
 * @param schema a tool's input schema
 * @throws ServiceError CANCELLED
 */
export async function fitArguments(
  given: SentArguments,
  schema: Schema,
  signal: AbortSignal,
): Promise<SentArguments> {
  if (given === undefined || given instanceof ServiceError) return given;
  return runSliced(fitted(given, schema), { signal, isContinuation: true });
}

function* fitted(value: JsonValue, schema: unknown): Steps<JsonValue> {
  yield;
  if (!isSchema(schema)) return value;
  const alternatives = Array.isArray(schema.anyOf) ? schema.anyOf.filter(isSchema) : [schema];
  const allows = (type: string) => alternatives.some((alternative) => alternative.type === type);
  if (allows("string")) return value;
  if (typeof value === "string") {
    const inner = yield* readText(value);
    return allows(typeOf(inner)) ? yield* fitted(inner, schema) : value;
  }
  if (isJsonArray(value)) {
    const items: JsonValue[] = [];
    const { items: schemaOfItems } = alternatives.find(({ type }) => type === "array") ?? {};
    for (const item of value) items.push(yield* fitted(item, schemaOfItems));
    return items;
  }
  return isJsonObject(value) ? yield* fittedMembers(value, alternatives) : value;
}

function* fittedMembers(value: JsonObject, alternatives: readonly Schema[]): Steps<JsonObject> {
  const chosen = alternatives.find(({ properties }) => hasEnumsOf(value, properties)) ?? {};
  const properties = isSchema(chosen.properties) ? chosen.properties : {};
  const required = Array.isArray(chosen.required) ? chosen.required : [];
  const members = new Map<string, JsonValue>();
  for (const [name, member] of value) {
    const isKnown = Object.hasOwn(properties, name);
    if (isKnown && !required.includes(name) && (member === null || member === "")) continue;
    members.set(name, yield* fitted(member, isKnown ? properties[name] : chosen.additionalProperties));
  }
  return members;
}

/** Whether each member has a value of its enumeration: the type of a question selects its schema. */
function hasEnumsOf(value: JsonObject, properties: unknown): boolean {
  return Object.entries(isSchema(properties) ? properties : {}).every(
    ([name, schema]) =>
      !isSchema(schema) || !Array.isArray(schema.enum) || schema.enum.includes(value.get(name)),
  );
}

/** The JSON value in a text; the text itself if there is none. A text in a text is read too. */
function* readText(text: string): Steps<JsonValue> {
  try {
    const value = yield* readSteps(text);
    return typeof value === "string" ? yield* readText(value) : value;
  } catch (error) {
    if (error instanceof ServiceError) return text;
    throw error;
  }
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (value instanceof JsonNumber) return "number";
  if (isJsonArray(value)) return "array";
  return isJsonObject(value) ? "object" : typeof value;
}
