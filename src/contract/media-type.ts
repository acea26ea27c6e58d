import { invalidRequest, type ServiceError } from "../errors.ts";

export type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

const PARAMETER = /;\s*([^\s;="]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;

/**
 * Lets a request with a body pass if its headers say that it is plain JSON in UTF-8.
 *
 * Unknown parameters of the media type are harmless; `+json` types are other formats.
 * @param headers names in lower case
 * @throws ServiceError INVALID_REQUEST with one `media_type` issue
 */
export function checkMediaType(headers: HeaderValues): void {
  const contentType = joined(headers["content-type"]);
  if (contentType === "") throw refusal("Expected Content-Type: application/json, got none.");
  const end = contentType.indexOf(";");
  const mediaType = end === -1 ? contentType : contentType.slice(0, end);
  if (mediaType.trim().toLowerCase() !== "application/json") {
    throw refusal("Expected Content-Type: application/json, got another media type.");
  }
  if (!charsets(contentType).every(isUtf8)) {
    throw refusal("Expected the charset utf-8 in Content-Type, got another.");
  }
  if (!codings(joined(headers["content-encoding"])).every((coding) => coding === "identity")) {
    throw refusal("Expected a body without Content-Encoding, got an encoded one.");
  }
}

function charsets(contentType: string): readonly string[] {
  return [...contentType.matchAll(PARAMETER)]
    .filter(([, name]) => name?.toLowerCase() === "charset")
    .map(([, , value = ""]) => unquoted(value.trim()).toLowerCase());
}

// "utf8" is the WHATWG encoding standard's other label of UTF-8, and common.
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

function refusal(msg: string): ServiceError {
  return invalidRequest([{ loc: ["body"], msg, type: "media_type" }]);
}
