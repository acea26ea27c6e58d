import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, isMap, type Json, type JsonMap, readJson, show } from "../../client/json.ts";
import { type Check, type Drafts, dialectChecks } from "../../trial/check.ts";
import type { Trial } from "../../trial/trial.ts";

export const MCP_PATH = "/mcp";
/** The protocol requires clients to accept both. */
const ACCEPT = { accept: "application/json, text/event-stream" };
export const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

/** The smallest request. It shows whether a server requires a key. */
export const MCP_REQUEST = { path: MCP_PATH, body: LIST, headers: ACCEPT };

export type ToolName = "decide" | "rank" | "models";

/** @param section of the protocol's specification */
export const mcpChecks = (section: string, drafts: Drafts): readonly Check[] =>
  dialectChecks("mcp", section, drafts);

interface SendOptions {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly hasKey?: boolean;
}

/** Posts a message. A string is sent as it is, anything else as JSON. */
export async function send(trial: Trial, message: unknown, options: SendOptions = {}): Promise<Reply> {
  const headers = { "content-type": "application/json", ...ACCEPT, ...options.headers };
  return await trial.post(MCP_PATH, message, { ...options, headers });
}

/** The message in an answer: the JSON body, or the response in a stream of events. */
export function messageIn({ headers, text, json }: Reply): Json | undefined {
  if (!headers["content-type"]?.startsWith("text/event-stream")) return json;
  const messages = text.split(/\r?\n/).flatMap((line) => {
    const data = /^data: ?(.+)$/.exec(line)?.[1];
    return data === undefined ? [] : (readJson(data) ?? []);
  });
  return messages.find((message) => isMap(message) && (message.has("result") || message.has("error")));
}

interface Answered {
  readonly reply: Reply;
  readonly result: JsonMap;
}

/** A JSON-RPC request message. */
type RequestMessage = Readonly<Record<string, unknown>> & { readonly id: Json };

/** Sends a request and returns its result, which must have the request's id. */
export async function resultOf(
  trial: Trial,
  message: RequestMessage,
  options: SendOptions = {},
): Promise<Answered> {
  const reply = await send(trial, message.text ?? message, options);
  if (reply.status === 503) trial.skip("the server's queue is full with other requests");
  trial.status(reply, 200);
  const answer = messageIn(reply);
  trial.equal("jsonrpc", at(answer, "jsonrpc"), "2.0", reply);
  trial.equal("the id", at(answer, "id"), message.id, reply);
  const result = at(answer, "result");
  if (!isMap(result)) return trial.fail(`no result: ${excerpt(reply)}`, reply);
  return { reply, result };
}

export const callOf = (name: string, given: unknown, id: string | number = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: given },
});

/** Calls a tool, which must succeed. @throws CannotTell if the queue is full */
export async function callTool(
  trial: Trial,
  name: ToolName,
  given: unknown,
  options?: SendOptions,
): Promise<Answered & { readonly structured: JsonMap; readonly text: string }> {
  const { reply, result } = await resultOf(trial, callOf(name, given), options);
  const text = textOf(result);
  if (at(result, "isError") === true && text?.includes("full")) trial.skip("the server's queue is full");
  trial.expect(at(result, "isError") !== true, `an error, for a call that is valid: ${text}`, reply);
  const structured = at(result, "structuredContent");
  if (!isMap(structured)) return trial.fail(`structuredContent is ${show(structured)}`, reply);
  if (text === undefined) return trial.fail(`content is ${show(at(result, "content"))}, not one text`, reply);
  return { reply, result, structured, text };
}

/** The single text of a tool's result; undefined if its content is anything else. */
export function textOf(result: Json): string | undefined {
  const text = at(result, "content", 0, "text");
  const isOne = at(result, "content", 1) === undefined && at(result, "content", 0, "type") === "text";
  return isOne && typeof text === "string" ? text : undefined;
}

/** Expects a JSON-RPC error with this code and a message. @param id of the answer, if it must have a certain one */
export function expectRpcError(trial: Trial, reply: Reply, code: number, id?: string | number | null): void {
  const error = at(messageIn(reply), "error");
  trial.equal("the error code", at(error, "code"), code, reply);
  const message = at(error, "message");
  trial.expect(typeof message === "string" && message !== "", `the message ${show(message)}`, reply);
  if (id !== undefined) trial.equal("the id", at(messageIn(reply), "id") ?? null, id, reply);
}

interface Refusal extends SendOptions {
  readonly status?: number | readonly number[];
  readonly code?: number;
  readonly id?: string | null;
}

/** Expects each message to be refused with this status, or this code of an error and this id. */
export async function expectRefusals(
  trial: Trial,
  messages: readonly unknown[],
  { status, code, id, ...options }: Refusal,
): Promise<void> {
  for (const message of messages) {
    const reply = await send(trial, message, options);
    if (status !== undefined) trial.status(reply, status);
    if (code !== undefined) expectRpcError(trial, reply, code, id);
  }
}
