import type { ErrorObject } from "ajv";
import type { Issue, IssueType, Location } from "../errors.ts";
import { asJson, countMembers } from "../json/plain.ts";
import { describeKind, JsonNumber } from "../json/value.ts";

/** What a fault is, apart from where: `member` when it lies in a member of the place that ajv names. */
interface Fault {
  readonly type: IssueType;
  readonly msg: string;
  readonly member?: string;
}

/**
 * What is wrong with a body, one issue a fault.
 *
 * @param errors from ajv with `verbose` and `discriminator`, so that a union gives the errors of one member only
 * @param body   the plain body that was validated
 */
export function issuesOf(errors: readonly ErrorObject[], body: unknown): readonly Issue[] {
  return errors.map((error) => {
    const { type, msg, member } = faultOf(error);
    const loc = locate(error.instancePath, body);
    return { loc: member === undefined ? loc : [...loc, member], msg, type };
  });
}

function faultOf(error: ErrorObject): Fault {
  const { keyword, params, data } = error;
  switch (keyword) {
    case "type":
      return {
        type: "wrong_type",
        msg: sentence(expectedType(error.parentSchema), kindOf(data)),
      };
    case "required":
      return {
        type: "missing",
        msg: sentence(`the member "${params.missingProperty}"`, "nothing"),
        member: params.missingProperty,
      };
    case "additionalProperties":
      return {
        type: "unknown_field",
        msg: sentence(`only the members ${memberNames(error.parentSchema)}`, "another"),
        member: params.additionalProperty,
      };
    case "minProperties":
      return { type: "too_few", msg: sentence(`at least ${counted(params.limit, "member")}`, countOf(data)) };
    case "maxProperties":
      return { type: "too_many", msg: sentence(`at most ${counted(params.limit, "member")}`, countOf(data)) };
    case "minItems":
      return {
        type: "too_few",
        msg: sentence(`at least ${counted(params.limit, "element")}`, countOf(data)),
      };
    case "maxItems":
      return {
        type: "too_many",
        msg: sentence(`at most ${counted(params.limit, "element")}`, countOf(data)),
      };
    case "discriminator":
      return unionFault(error);
    default:
      // No other keyword stands in a request's schema today; one that is added deserves a case of its own.
      return { type: "wrong_type", msg: sentence("what the contract says", kindOf(data)) };
  }
}

/** The member that tells a union's types apart is missing, no string, or none of the known ones. */
function unionFault({ params, parentSchema }: ErrorObject): Fault {
  const tag: string = params.tag;
  const expected = alternatives(tagValues(parentSchema, tag));
  const given: unknown = params.tagValue;
  if (given === undefined) return { type: "missing", msg: sentence(expected, "nothing"), member: tag };
  if (typeof given === "string")
    return { type: "unknown_value", msg: sentence(expected, "another string"), member: tag };
  return { type: "wrong_type", msg: sentence(expected, kindOf(given)), member: tag };
}

/** The keywords that messages need. */
interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly oneOf?: readonly Schema[];
}

function tagValues(union: Schema | undefined, tag: string): readonly string[] {
  return union?.oneOf?.flatMap((member) => member.properties?.[tag]?.enum ?? []) ?? [];
}

function expectedType(schema: Schema | undefined): string {
  if (schema?.type === undefined) return "any JSON value";
  const article = /^[aeiou]/.test(schema.type) ? "an" : "a";
  const orNull = schema.nullable === true ? " or null" : "";
  return `${article} ${schema.type}${orNull}`;
}

function memberNames(owner: Schema | undefined): string {
  return Object.keys(owner?.properties ?? {})
    .map((name) => `"${name}"`)
    .join(", ");
}

/** `"choice", "noul" or "score"` */
function alternatives(values: readonly string[]): string {
  const quoted = values.map((value) => `"${value}"`);
  return [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter((part) => part).join(" or ");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function countOf(data: unknown): string {
  return typeof data === "object" && data !== null ? String(countMembers(data)) : "none";
}

/** `an object`, `null`, ...; the value may be converted or not. */
function kindOf(value: unknown): string {
  if (typeof value === "number") return "a number";
  if (isRecord(value) && !Array.isArray(value) && !(value instanceof JsonNumber)) return "an object";
  return describeKind(asJson(value));
}

function sentence(expected: string, came: string): string {
  return `Expected ${expected}, got ${came}.`;
}

/** Names and positions from an RFC 6901 pointer that begins with `/requestBody`. */
function locate(instancePath: string, body: unknown): Location {
  const loc: (string | number)[] = ["body"];
  let value: unknown = body;
  for (const step of instancePath.split("/").slice(2)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    loc.push(Array.isArray(value) ? Number(name) : name);
    value = isRecord(value) ? value[name] : undefined;
  }
  return loc;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
