import { invalidRequest, ServiceError } from "../errors.ts";
import { MAX_NESTING, readSteps } from "../json/read.ts";
import { runSliced, type SliceOptions, type Steps } from "../json/slices.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "../json/value.ts";
import { isRecord } from "../records.ts";
import type { SentArguments } from "./messages.ts";
import type { Schema } from "./schemas.ts";

/** The limit of a body over HTTP. */
export interface ArgumentLimits {
  readonly maxBodyBytes: number;
}

/** Chosen: about 0.5 ms of counting. */
const VALUES_PER_STEP = 4_096;

/**
 * The arguments of a call as the contract wants them. Hosts and models write some in other forms, whose meaning is
 * clear:
 *
 *     null or "" for an optional member        as if the member were missing
 *     a text where none is allowed              the JSON value in it, if that is allowed
 *
 * All else is left as it is, for the contract to refuse.
 *
 * @param schema a tool's input schema
 * @returns an error for arguments beyond the limits of a body
 * @throws ServiceError CANCELLED
 */
export async function fitArguments(
  given: SentArguments,
  schema: Schema,
  limits: ArgumentLimits,
  options: Pick<SliceOptions, "signal" | "clock">,
): Promise<SentArguments> {
  if (given === undefined || given instanceof ServiceError) return given;
  return runSliced(fittedWithin(given, schema, limits), { ...options, isContinuation: true });
}

function* fittedWithin(given: JsonValue, schema: Schema, limits: ArgumentLimits): Steps<SentArguments> {
  const value = yield* fitted(given, schema);
  return (yield* refusalOf(value, limits)) ?? value;
}

/** An object or array whose members are being counted. */
interface Open {
  readonly members: Iterator<readonly [string | number, JsonValue]>;
  at: string | number;
}

/**
 * Refuses what a body may not be. A text that was read as a value can be deeper than its message, whose limit has been
 * checked.
 */
function* refusalOf(given: JsonValue, { maxBodyBytes }: ArgumentLimits): Steps<ServiceError | undefined> {
  const open: Open[] = [];
  let bytes = 0;
  let value: JsonValue | undefined = given;
  for (let count = 1; value !== undefined; count++) {
    if (count % VALUES_PER_STEP === 0) yield;
    bytes += bytesOf(value);
    if (bytes > maxBodyBytes) return tooLarge(maxBodyBytes);
    if (isJsonArray(value) || isJsonObject(value)) {
      if (open.length === MAX_NESTING) return tooDeep(open);
      open.push({ members: value.entries(), at: 0 });
    }
    value = nextOf(open);
    const name = value === undefined ? undefined : open.at(-1)?.at;
    if (typeof name === "string") bytes += bytesOf(name) + 1; // and its colon
  }
  return undefined;
}

/** Goes to the next member, in the innermost object or array that has one. */
function nextOf(open: Open[]): JsonValue | undefined {
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const next = frame.members.next();
    if (!next.done) {
      const [at, value] = next.value;
      frame.at = at;
      return value;
    }
    open.pop();
  }
  return undefined;
}

/** Size as JSON; of an object or array without its members: brackets and commas. */
function bytesOf(value: JsonValue): number {
  if (value instanceof JsonNumber) return value.text.length;
  if (isJsonArray(value)) return Math.max(2, value.length + 1);
  if (isJsonObject(value)) return Math.max(2, value.size + 1);
  return Buffer.byteLength(JSON.stringify(value));
}

function tooLarge(most: number): ServiceError {
  return new ServiceError("BODY_TOO_LARGE", `Expected arguments of at most ${most} bytes as JSON, got more.`);
}

function tooDeep(open: readonly Open[]): ServiceError {
  const msg = `Expected objects and arrays at most ${MAX_NESTING} levels deep, got more.`;
  return invalidRequest([{ loc: ["body", ...open.map(({ at }) => at)], msg, type: "nesting_too_deep" }]);
}

function* fitted(value: JsonValue, schema: unknown): Steps<JsonValue> {
  yield;
  if (!isRecord(schema)) return value;
  const alternatives = Array.isArray(schema.anyOf) ? schema.anyOf.filter(isRecord) : [schema];
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
  const properties = isRecord(chosen.properties) ? chosen.properties : {};
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
  return Object.entries(isRecord(properties) ? properties : {}).every(
    ([name, schema]) =>
      !isRecord(schema) || !Array.isArray(schema.enum) || schema.enum.includes(value.get(name)),
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
