import { PARSE_ERROR, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { invalidRequest, ServiceError } from "../errors.ts";
import { MAX_NESTING, readJson } from "../json/read.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "../json/value.ts";
import { writeJson } from "../json/write.ts";

/** The arguments of a tool call as sent, or the error that makes them invalid. */
export type SentArguments = JsonValue | ServiceError | undefined;

/** A message of the protocol, or a batch of them. */
export interface ReadMessage {
  /**
   * Plain values for the SDK. The id of each request is replaced by its JSON text (`writeWithIds` reverses that): the
   * SDK would round long numbers. The arguments of tool calls are replaced by `{}`.
   */
  readonly plain: unknown;
  /** The arguments of each tool call, keyed by the id in `plain`. */
  readonly calls: ReadonlyMap<string, SentArguments>;
}

/** A message that is no valid one, as the error of JSON-RPC that answers it. */
export interface Refusal {
  readonly id: JsonValue;
  readonly error: { readonly code: number; readonly message: string };
}

const refusal = (code: number, message: string, id: JsonValue = null): Refusal => ({
  id,
  error: { code, message },
});

/**
 * Parses a message and keeps the arguments of its tool calls separate. The SDK would use JSON.parse, which moves names
 * such as "10" to the front, rounds long integers and drops duplicate members. The contract has rules for all three.
 *
 * @param bytes UTF-8. A byte order mark, which some hosts write first, is ignored
 * @throws ServiceError CANCELLED
 */
export async function readMessage(bytes: Uint8Array, signal?: AbortSignal): Promise<ReadMessage | Refusal> {
  const text = withoutMark(bytes);
  const options = signal === undefined ? {} : { signal };
  const value = await readJson(text, options).catch(faultOf);
  if (!(value instanceof ServiceError)) return skeletonOf(value);
  if (value.issues.some(({ type }) => type === "invalid_json")) return refusal(PARSE_ERROR, value.message);
  // too many levels or a duplicate member: read again for the id, under which it must be answered
  let again: unknown;
  try {
    again = JSON.parse(new TextDecoder().decode(text));
  } catch {
    return refusal(PARSE_ERROR, "Expected valid JSON, got another text.");
  }
  return refusedMessage(withoutDepth(again), value);
}

/** A value that JSON.parse gives, with null instead of what is nested too deeply. */
function withoutDepth(value: unknown, depth = 0): JsonValue {
  if (typeof value === "number") return new JsonNumber(JSON.stringify(value));
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null || depth === MAX_NESTING) return null;
  if (Array.isArray(value)) return value.map((item) => withoutDepth(item, depth + 1));
  return new Map(Object.entries(value).map(([name, member]) => [name, withoutDepth(member, depth + 1)]));
}

/** The error of a text that is refused. @throws any other error */
function faultOf(error: unknown): ServiceError {
  if (error instanceof ServiceError && error.kind === "INVALID_REQUEST") return error;
  throw error;
}

/** Writes an answer of the SDK, or a batch of them, with the ids as they were sent. */
export function writeWithIds(answer: unknown): string {
  return writeJson(Array.isArray(answer) ? answer.map(withId) : withId(answer));
}

function withId(answer: unknown): unknown {
  if (typeof answer !== "object" || answer === null || !("id" in answer)) return answer;
  return typeof answer.id === "string" ? { ...answer, id: new JsonNumber(answer.id) } : answer;
}

export function writeRefusal({ id, error }: Refusal): string {
  return writeJson({ jsonrpc: "2.0", id, error });
}

/** The error for two concurrent calls with one id, whose answers could not be distinguished. */
export function idTwice(): ServiceError {
  return new ServiceError("INVALID_REQUEST", "Two concurrent calls have the same id.");
}

function withoutMark(bytes: Uint8Array): Uint8Array {
  const [first, second, third] = bytes;
  return first === 0xef && second === 0xbb && third === 0xbf ? bytes.subarray(3) : bytes;
}

const isId = (value: JsonValue | undefined) => typeof value === "string" || value instanceof JsonNumber;

/** Whether a request has an id that is none. Some hosts write the missing id of a notification as null. */
function hasOtherId(message: JsonValue): boolean {
  if (!isJsonObject(message) || !message.has("method") || !message.has("id")) return false;
  const [id, method] = [message.get("id"), message.get("method")];
  return !isId(id) && !(id === null && typeof method === "string" && method.startsWith("notifications/"));
}

function skeletonOf(value: JsonValue): ReadMessage | Refusal {
  const messages = isJsonArray(value) ? value : [value];
  if (messages.some(hasOtherId))
    return refusal(ProtocolErrorCode.InvalidRequest, "Expected an id that is a string or a number.");
  const calls = new Map<string, SentArguments>();
  const skeletons = messages.map((message) =>
    plain(isJsonObject(message) ? forSdk(message, calls) : message),
  );
  return { plain: isJsonArray(value) ? skeletons : skeletons[0], calls };
}

function forSdk(message: JsonObject, calls: Map<string, SentArguments>): JsonObject {
  const members = new Map(message);
  const [id, method, params] = [members.get("id"), members.get("method"), members.get("params")];
  const key = writeJson(id ?? null);
  if (method !== undefined && isId(id)) members.set("id", key);
  if (isNothing(params)) members.delete("params");
  if (!isJsonObject(params)) return members;
  const changed = new Map(params);
  if (method === "notifications/cancelled")
    changed.set("requestId", writeJson(params.get("requestId") ?? null));
  if (method === "tools/call") {
    const given = params.get("arguments");
    if (isNothing(given)) changed.delete("arguments");
    else if (isJsonObject(given) || isObjectText(given)) changed.set("arguments", new Map());
    calls.set(key, calls.has(key) ? idTwice() : isNothing(given) ? undefined : given);
  }
  return members.set("params", changed);
}

/** PHP writes an empty object as `[]`. */
function isNothing(value: JsonValue | undefined): boolean {
  return value === null || value === undefined || (isJsonArray(value) && value.length === 0);
}

/** Some hosts send the text of the arguments; `fitArguments` reads it. The SDK refuses all other strings. */
function isObjectText(value: JsonValue | undefined): boolean {
  return typeof value === "string" && value.trimStart().startsWith("{");
}

/** A call whose arguments are refused is answered as a call; any other message with an error of the protocol. */
function refusedMessage(value: JsonValue, error: ServiceError): ReadMessage | Refusal {
  const id = (isJsonObject(value) ? value.get("id") : undefined) ?? null;
  const params = isJsonObject(value) ? value.get("params") : undefined;
  const isCall =
    error.issues.every(({ loc }) => loc[1] === "params" && loc[2] === "arguments") &&
    isJsonObject(value) &&
    value.get("method") === "tools/call";
  if (!isId(id) || !isCall || !isJsonObject(params))
    return refusal(ProtocolErrorCode.InvalidRequest, error.message, isId(id) ? id : null);
  const read = skeletonOf(new Map([...value, ["params", new Map([...params, ["arguments", new Map()]])]]));
  return "error" in read ? read : { ...read, calls: new Map([[writeJson(id), ofArguments(error)]]) };
}

/** Makes the places of issues relative to the arguments. */
function ofArguments({ issues }: ServiceError): ServiceError {
  return invalidRequest(issues.map((issue) => ({ ...issue, loc: ["body", ...issue.loc.slice(3)] })));
}

/** A plain value without null members: the protocol has none, but many hosts write missing members so. */
function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (typeof value !== "object" || value === null) return value;
  if (isJsonArray(value)) return value.map(plain);
  const members = [...value].filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
}
