import type { CallToolResult } from "@modelcontextprotocol/server";
import type { OperationId, OutgoingReply } from "../contract/call.ts";
import { ServiceError } from "../errors.ts";
import { isJsonObject } from "../json/value.ts";
import { writeJson } from "../json/write.ts";
import type { SentArguments } from "./messages.ts";
import { TOOLS, type ToolName } from "./tools.ts";

/** A request to an operation of the contract, in this process or elsewhere. */
export interface AskedOperation {
  readonly operationId: Extract<OperationId, "systemone" | "rank" | "listModels">;
  /** Empty for operations without one. */
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

/** @returns the operation's answer, whatever its status. @throws ServiceError CANCELLED when the caller has left */
export type AskService = (
  asked: AskedOperation,
) => Promise<Pick<OutgoingReply, "status" | "headers" | "body">>;

/** Same limit as of a body over HTTP. */
export interface CallLimits {
  readonly maxBodyBytes: number;
}

const NO_BODY = new Uint8Array(0);

/**
 * Calls a tool. Whatever is wrong with a call is told in a result with `isError`, which agents read and mend; only what is wrong
 * with the message itself is an error of the protocol.
 *
 * @throws ServiceError CANCELLED when the caller has left
 */
export function callTool(
  name: ToolName,
  given: SentArguments,
  signal: AbortSignal,
  ask: AskService,
  { maxBodyBytes }: CallLimits,
): Promise<CallToolResult> {
  if (given instanceof ServiceError) return Promise.resolve(failed(messageOf(name, given)));
  const { operationId } = TOOLS[name];
  if (operationId === "listModels") {
    const hasArguments = given !== undefined && !(isJsonObject(given) && given.size === 0);
    if (hasArguments) return Promise.resolve(failed(`${name} takes no arguments: call it with {}.`));
    return answered(name, ask({ operationId, body: NO_BODY, signal }));
  }
  const body = Buffer.from(writeJson(given ?? new Map()), "utf8");
  if (body.length > maxBodyBytes)
    return Promise.resolve(
      failed(`The arguments of ${name} may have at most ${maxBodyBytes} bytes as JSON.`),
    );
  return answered(name, ask({ operationId, body, signal }));
}

async function answered(name: ToolName, asking: ReturnType<AskService>): Promise<CallToolResult> {
  const { status, headers, body } = await asking;
  // The text is the contract's own: its members are in the order of the request, which plain objects cannot keep.
  if (status === 200) return { content: [{ type: "text", text: body }], structuredContent: JSON.parse(body) };
  return failed(describe(name, status, body, headers["retry-after"]));
}

const failed = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true });

function messageOf(name: ToolName, { issues, message }: ServiceError): string {
  return issues.length === 0 ? message : listIssues(name, issues);
}

/** An error body of the contract in words for an agent. */
function describe(name: ToolName, status: number, body: string, retryAfter: string | undefined): string {
  const detail = detailOf(body);
  if (Array.isArray(detail)) return listIssues(name, detail);
  const sentence = typeof detail === "string" ? detail : `The service answered with status ${status}.`;
  return retryAfter === undefined ? sentence : `${sentence} Try again after ${retryAfter} s.`;
}

function detailOf(body: string): unknown {
  try {
    return JSON.parse(body).detail;
  } catch {
    return undefined; // not the contract's: of a proxy, say
  }
}

interface ToldIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

function listIssues(name: ToolName, issues: readonly ToldIssue[]): string {
  const lines = issues.map(({ loc, msg }) => {
    const place = loc.slice(1).join("."); // the first is always "body"
    return `- ${place === "" ? "" : `${place}: `}${msg}`;
  });
  return [`The arguments of ${name} cannot be used:`, ...lines].join("\n");
}
