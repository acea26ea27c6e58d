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

/** Content codings that a contract can accept. @see https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1 */
const CONTENT_CODINGS = ["gzip", "zstd"] as const;
export type ContentCoding = (typeof CONTENT_CODINGS)[number];

export type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

const PARAMETER = /;\s*([^\s;="]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;

/**
 * Checks that the headers of a request with a body declare plain JSON in UTF-8.
 *
 * Unknown parameters of the media type are ignored. `+json` types are refused, because they are other formats.
 * @param headers names in lower case
 * @param known   accepted content codings, at most one per body; "identity" is always accepted
 * @throws ServiceError INVALID_REQUEST with one `media_type` issue
 */
export function checkMediaType(headers: HeaderValues, known: readonly ContentCoding[] = []): void {
  const contentType = joined(headers["content-type"]);
  if (contentType === "application/json" && headers["content-encoding"] === undefined) return; // most requests
  if (contentType === "") throw refusal("media_type", "Expected Content-Type: application/json, got none.");
  const end = contentType.indexOf(";");
  const mediaType = end === -1 ? contentType : contentType.slice(0, end);
  if (mediaType.trim().toLowerCase() !== "application/json") {
    throw refusal("media_type", "Expected Content-Type: application/json, got another media type.");
  }
  if (!charsets(contentType).every(isUtf8)) {
    throw refusal("media_type", "Expected the charset utf-8 in Content-Type, got another.");
  }
  const applied = codings(joined(headers["content-encoding"])).filter((coding) => coding !== "identity");
  if (applied.length > (known.length > 0 ? 1 : 0) || !applied.every((coding) => isOneOf(known, coding))) {
    throw refusal(
      "media_type",
      `Expected a body ${expectedCodings(known)}, got ${known.length > 0 ? "another" : "an encoded one"}.`,
    );
  }
}

/** The coding of a body that has passed `checkMediaType`; undefined if it has none. */
export function contentCodingOf(headers: HeaderValues): ContentCoding | undefined {
  return codings(joined(headers["content-encoding"])).find((coding) => isOneOf(CONTENT_CODINGS, coding));
}

function isOneOf(known: readonly ContentCoding[], coding: string): coding is ContentCoding {
  return known.some((one) => one === coding);
}

function expectedCodings(known: readonly ContentCoding[]): string {
  if (known.length === 0) return "without Content-Encoding";
  return `without Content-Encoding, or with one of ${known.join(", ")}`;
}

function charsets(contentType: string): readonly string[] {
  return [...contentType.matchAll(PARAMETER)]
    .filter(([, name]) => name?.toLowerCase() === "charset")
    .map(([, , value = ""]) => unquoted(value.trim()).toLowerCase());
}

// "utf8" is a common label of UTF-8 too (WHATWG encoding standard)
function isUtf8(charset: string): boolean {
  return charset === "utf-8" || charset === "utf8";
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
}

function codings(contentEncoding: string): readonly string[] {
  return contentEncoding
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "");
}

function joined(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value.join(",") : (value ?? "")).trim();
}
