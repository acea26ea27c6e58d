import type { CallToolResult } from "@modelcontextprotocol/server";
import type { OperationId, OutgoingReply } from "../contract/call.ts";
import { ServiceError } from "../errors.ts";
import { isJsonObject, type JsonValue } from "../json/value.ts";
import { memberOf, parsedJson } from "../records.ts";
import type { SentArguments } from "./messages.ts";
import { TOOLS, type ToolName } from "./tools.ts";

/** A request to an operation of the contract, in this process or on another server. */
export interface AskedOperation {
  readonly operationId: Extract<OperationId, "systemone" | "rank" | "listModels">;
  /** Null for operations without a body. */
  readonly body: JsonValue;
  readonly signal: AbortSignal;
}

/**
 * Sends a request. @returns the operation's answer, whatever its status. @throws ServiceError CANCELLED if the caller
 * has disconnected
 */
export type AskService = (
  asked: AskedOperation,
) => Promise<Pick<OutgoingReply, "status" | "headers" | "body">>;

/**
 * Calls a tool. A failed call gives a result with `isError`, which agents can read and correct; only an invalid message
 * gives a protocol error.
 *
 * @throws ServiceError CANCELLED if the caller has disconnected
 */
export function callTool(
  name: ToolName,
  given: SentArguments,
  signal: AbortSignal,
  ask: AskService,
): Promise<CallToolResult> {
  if (given instanceof ServiceError) return Promise.resolve(failed(messageOf(name, given)));
  const { operationId } = TOOLS[name];
  if (operationId === "listModels") {
    const hasArguments = given !== undefined && !(isJsonObject(given) && given.size === 0);
    if (hasArguments) return Promise.resolve(failed(`${name} has no arguments: call it with {}.`));
    return answered(name, ask({ operationId, body: null, signal }));
  }
  return answered(name, ask({ operationId, body: given ?? new Map(), signal }));
}

async function answered(name: ToolName, asking: ReturnType<AskService>): Promise<CallToolResult> {
  const { status, headers, body } = await asking;
  // The text is the contract's JSON, whose members have the order of the request. Plain objects could not keep it.
  if (status === 200) return { content: [{ type: "text", text: body }], structuredContent: JSON.parse(body) };
  return failed(describe(name, status, body, headers["retry-after"]));
}

const failed = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true });

function messageOf(name: ToolName, { issues, message }: ServiceError): string {
  return issues.length === 0 ? message : listIssues(name, issues);
}

/** Describes an error body of the contract for an agent. */
function describe(name: ToolName, status: number, body: string, retryAfter: string | undefined): string {
  // no error body of the contract, perhaps one of a proxy, has no detail
  const detail = memberOf(parsedJson(body), "detail");
  if (Array.isArray(detail)) return listIssues(name, detail);
  const sentence = typeof detail === "string" ? detail : `The service answered with status ${status}.`;
  return retryAfter === undefined ? sentence : `${sentence} Try again after ${retryAfter} s.`;
}

interface ToldIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

function listIssues(name: ToolName, issues: readonly ToldIssue[]): string {
  const lines = issues.map(({ loc, msg }) => {
    const place = loc.slice(1).join("."); // the first element is always "body"
    return `- ${place === "" ? "" : `${place}: `}${msg}`;
  });
  return [`The arguments of ${name} are invalid:`, ...lines].join("\n");
}
