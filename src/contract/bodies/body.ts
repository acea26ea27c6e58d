import { type Issue, invalidRequest } from "../../errors.ts";
import { type Aliases, resolveAliases } from "../../json/aliases.ts";
import { readJson } from "../../json/read.ts";
import type { SliceOptions } from "../../json/slices.ts";
import { describeKind, isJsonObject, type JsonObject, type JsonValue } from "../../json/value.ts";
import type { Viewer, Views } from "../../json/views.ts";

/** A body that has been read but not validated. */
export interface ReceivedBody extends Views {
  /** All members, under the contract's names. */
  readonly sent: JsonObject;
  /** Maps the contract's name of a member to the alias that the request used. */
  readonly usedNames: ReadonlyMap<string, string>;
  /** Members that the request has under both names. */
  readonly conflicts: readonly Issue[];
}

/** The body of an operation according to the contract. */
export interface BodyForm {
  readonly view: Viewer;
  readonly aliases: Aliases;
}

/**
 * Reads a request's body.
 *
 * @param body bytes, or the value that a caller has read already
 * @throws ServiceError INVALID_REQUEST: invalid_json, duplicate_member, nesting_too_deep or wrong_type (no object); the
 *         reason of the signal
 */
export async function readBody(
  body: Uint8Array | JsonValue,
  options: Pick<SliceOptions, "signal" | "clock">,
  { view, aliases }: BodyForm,
): Promise<ReceivedBody> {
  const value = body instanceof Uint8Array ? await readBytes(body, options) : body;
  if (!isJsonObject(value)) {
    throw refusal("wrong_type", `Expected an object, got ${describeKind(value)}.`);
  }
  const { members, usedNames, conflicts } = resolveAliases(value, aliases, ["body"]);
  return { ...view(members), sent: members, usedNames, conflicts };
}

function readBytes(bytes: Uint8Array, options: Pick<SliceOptions, "signal" | "clock">): Promise<JsonValue> {
  if (bytes.length === 0) throw refusal("invalid_json", "Expected a JSON object, got an empty body.");
  return readJson(bytes, options);
}

function refusal(type: Issue["type"], msg: string) {
  return invalidRequest([{ loc: ["body"], msg, type }]);
}
