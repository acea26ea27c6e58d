import { REQUEST_LIMITS } from "../../decisions/request.ts";
import { invalidRequest, type Location, ServiceError } from "../../errors.ts";
import { MAX_NESTING } from "../../json/read.ts";
import { JsonNumber } from "../../json/value.ts";
import { writeJson } from "../../json/write.ts";

/**
 * Serializes a request to JSON. Maps become objects in their order, `toJSON` is applied (dates), and undefined members
 * are left out.
 *
 * @throws ServiceError INVALID_REQUEST on values without a JSON form: functions, NaN, bigint, cycles
 */
export function requestText(body: unknown): string {
  return writeJson(jsonOf(body, ["body"]));
}

function jsonOf(value: unknown, loc: Location): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      throw noJson(loc, "a number that is not finite");
    case "object":
      return value === null || value instanceof JsonNumber ? value : structureOf(value, loc);
    default:
      throw noJson(loc, value === undefined ? "undefined" : `a ${typeof value}`);
  }
}

function structureOf(value: object, loc: Location): unknown {
  if (loc.length > MAX_NESTING) {
    const msg = `Expected at most ${MAX_NESTING} levels of objects and arrays, got more or a value that holds itself.`;
    throw invalidRequest([{ loc: loc.slice(0, 3), msg, type: "nesting_too_deep" }]);
  }
  if (Array.isArray(value)) return value.map((item, at) => jsonOf(item, [...loc, at]));
  if (value instanceof Map) return membersOf(value, loc);
  if ("toJSON" in value && typeof value.toJSON === "function") return jsonOf(value.toJSON(), loc);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || Object.keys(value).length > 0)
    return membersOf(Object.entries(value), loc);
  throw noJson(loc, `an object of the class ${value.constructor.name} without members`);
}

function membersOf(members: Iterable<readonly [unknown, unknown]>, loc: Location) {
  const kept = new Map<string, unknown>();
  for (const [name, member] of members) {
    if (typeof name !== "string") throw noJson(loc, `a Map with a ${typeof name} as a key`);
    if (member !== undefined) kept.set(name, jsonOf(member, [...loc, name]));
  }
  return kept;
}

const noJson = (loc: Location, what: string) =>
  invalidRequest([{ loc, msg: `Expected a JSON value, got ${what}.`, type: "wrong_type" }]);

/** The UTF-8 bytes of a request, within the contract's size limit. @throws ServiceError BODY_TOO_LARGE */
export function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text);
  const { maxBodyBytes } = REQUEST_LIMITS;
  if (bytes.length <= maxBodyBytes) return bytes;
  const message = `Expected a request of at most ${maxBodyBytes} bytes as JSON, got ${bytes.length}.`;
  throw new ServiceError("BODY_TOO_LARGE", message);
}
