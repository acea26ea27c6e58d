import { invalidRequest, ServiceError } from "../errors.ts";
import { readJson } from "../json/read.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "../json/value.ts";

/** The arguments of a tool call as sent, or the error that makes them invalid. */
export type SentArguments = JsonValue | ServiceError | undefined;

/** A message of the protocol, or a batch of them. */
export interface ReadMessage {
  /** Plain values for the SDK, with the arguments of tool calls replaced by `{}`. */
  readonly plain: unknown;
  /** The arguments of each tool call, keyed by `keyOf` of its id. */
  readonly calls: ReadonlyMap<string, SentArguments>;
}

/** A request's id as a map key: 1 and "1" are different ids. */
export function keyOf(id: unknown): string {
  return JSON.stringify(id);
}

/**
 * Parses a message and keeps the arguments of its tool calls separate. The SDK would use JSON.parse, which moves names
 * such as "10" to the front, rounds long integers and drops duplicate members. The contract has rules for all three.
 *
 * @param bytes UTF-8
 * @throws ServiceError INVALID_REQUEST (invalid_json) | CANCELLED
 */
export async function readMessage(bytes: Uint8Array, signal?: AbortSignal): Promise<ReadMessage> {
  const calls = new Map<string, SentArguments>();
  try {
    const value = await readJson(bytes, signal === undefined ? {} : { signal });
    return { plain: withoutArguments(value, calls), calls };
  } catch (error) {
    const isReadable =
      error instanceof ServiceError &&
      error.issues.some(({ type }) => type === "duplicate_member" || type === "nesting_too_deep");
    if (!isReadable) throw error;
    // valid JSON that the contract refuses: the call must be answered, so its id is needed
    return { plain: refused(JSON.parse(new TextDecoder().decode(bytes)), ofArguments(error), calls), calls };
  }
}

function withoutArguments(value: JsonValue, calls: Map<string, SentArguments>): unknown {
  if (isJsonArray(value)) return value.map((item) => withoutArguments(item, calls));
  if (!isJsonObject(value)) return plain(value);
  const params = value.get("params");
  if (value.get("method") !== "tools/call" || !isJsonObject(params)) return plain(value);
  keep(calls, plain(value.get("id") ?? null), params.get("arguments"));
  return plain(new Map([...value, ["params", replaced(params)]]));
}

/** Replaces arguments that are an object. The SDK refuses any other type. */
function replaced(params: JsonObject): JsonObject {
  if (!isJsonObject(params.get("arguments"))) return params;
  return new Map([...params, ["arguments", new Map()]]);
}

/** Makes the places of issues relative to the arguments. */
function ofArguments({ issues }: ServiceError): ServiceError {
  return invalidRequest(
    issues.map((issue) => ({
      ...issue,
      loc: ["body", ...issue.loc.slice(issue.loc.indexOf("arguments") + 1)],
    })),
  );
}

function refused(message: unknown, error: ServiceError, calls: Map<string, SentArguments>): unknown {
  if (Array.isArray(message)) return message.map((item) => refused(item, error, calls));
  if (typeof message !== "object" || message === null || !("method" in message)) return message;
  if (message.method !== "tools/call" || !("params" in message)) return message;
  keep(calls, "id" in message ? message.id : null, error);
  const { params } = message;
  return typeof params === "object" && params !== null
    ? { ...message, params: { ...params, arguments: {} } }
    : message;
}

function keep(calls: Map<string, SentArguments>, id: unknown, given: SentArguments): void {
  const key = keyOf(id);
  calls.set(key, calls.has(key) ? idTwice() : given);
}

/** The error for two concurrent calls with one id, whose answers could not be distinguished. */
export function idTwice(): ServiceError {
  return new ServiceError("INVALID_REQUEST", "Two concurrent calls have the same id.");
}

function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (isJsonArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]));
}
