import type { ErrorObject } from "ajv";
import type { Issue, IssueType, Location } from "../errors.ts";
import { describeKind, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../json/value.ts";

/** A fault without its location. `member` is set if it concerns a member of the location that ajv reports. */
interface Fault {
  readonly type: IssueType;
  readonly msg: string;
  readonly member?: string;
}

/**
 * Converts the faults of a body to issues, one for each.
 *
 * @param errors errors of ajv with `verbose` and `discriminator`, so that a union reports the errors of one member only
 * @param body   the body as sent; the validator got its plain view
 */
export function issuesOf(errors: readonly ErrorObject[], body: JsonObject): readonly Issue[] {
  return errors.map((error) => {
    const { loc, value } = locate(error.instancePath, body);
    const { type, msg, member } = faultOf(error, value);
    return { loc: member === undefined ? loc : [...loc, member], msg, type };
  });
}

function faultOf(error: ErrorObject, value: JsonValue): Fault {
  const { keyword, params } = error;
  switch (keyword) {
    case "type":
      return {
        type: "wrong_type",
        msg: sentence(expectedType(error.parentSchema), describeKind(value)),
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
      return {
        type: "too_few",
        msg: sentence(`at least ${counted(params.limit, "member")}`, countOf(value)),
      };
    case "maxProperties":
      return {
        type: "too_many",
        msg: sentence(`at most ${counted(params.limit, "member")}`, countOf(value)),
      };
    case "minItems":
      return {
        type: "too_few",
        msg: sentence(`at least ${counted(params.limit, "element")}`, countOf(value)),
      };
    case "maxItems":
      return {
        type: "too_many",
        msg: sentence(`at most ${counted(params.limit, "element")}`, countOf(value)),
      };
    case "minimum":
      return { type: "too_few", msg: sentence(`a number of at least ${params.limit}`, "a smaller one") };
    case "maximum":
      return { type: "too_many", msg: sentence(`a number of at most ${params.limit}`, "a larger one") };
    case "enum":
      return { type: "unknown_value", msg: sentence(alternatives(params.allowedValues), "another value") };
    case "discriminator":
      return unionFault(error, value);
    default:
      // schemas of requests use no other keywords; add a case here when one does
      return { type: "wrong_type", msg: sentence("what the contract says", describeKind(value)) };
  }
}

/** The fault of a union's discriminator: missing, not a string, or an unknown value. */
function unionFault({ params, parentSchema }: ErrorObject, value: JsonValue): Fault {
  const tag: string = params.tag;
  const expected = alternatives(tagValues(parentSchema, tag));
  const given = isJsonObject(value) ? value.get(tag) : undefined;
  if (given === undefined) return { type: "missing", msg: sentence(expected, "nothing"), member: tag };
  if (typeof given === "string")
    return { type: "unknown_value", msg: sentence(expected, "another string"), member: tag };
  return { type: "wrong_type", msg: sentence(expected, describeKind(given)), member: tag };
}

/** The keywords of a schema that messages use. */
interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
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
  const types = [schema.type].flat().map((type) => `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`);
  return [...types, ...(schema.nullable === true ? ["null"] : [])].join(" or ");
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

function countOf(value: JsonValue): string {
  if (isJsonObject(value)) return String(value.size);
  return isJsonArray(value) ? String(value.length) : "none";
}

function sentence(expected: string, got: string): string {
  return `Expected ${expected}, got ${got}.`;
}

/** The location and value of an RFC 6901 pointer that begins with `/requestBody`. */
function locate(instancePath: string, body: JsonObject): { loc: Location; value: JsonValue } {
  const loc: (string | number)[] = ["body"];
  let value: JsonValue = body;
  for (const step of instancePath.split("/").slice(2)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const isItem = isJsonArray(value);
    loc.push(isItem ? Number(name) : name);
    value = memberOf(value, name) ?? null;
  }
  return { loc, value };
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  if (isJsonArray(value)) return value[Number(name)];
  return isJsonObject(value) ? value.get(name) : undefined;
}
