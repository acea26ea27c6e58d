import type { Contract, HandledId, Handlers, OutgoingReply, Services } from "../../src/contract/call.ts";
import { createContract } from "../../src/contract/contract.ts";
import { document } from "./document.ts";

export const REQUEST_ID = "test-1";

/** Handlers that answer with what they were given; what they return is not the contract's. */
const echo = async (call: { readonly body: unknown }) => ({ status: 200, body: { received: call.body } });

/** A contract over the given handlers and, for the other operations, echoes. @param served the document that it serves */
export function fakeContract(
  handlers: Readonly<Record<string, unknown>> = {},
  served: Readonly<Record<string, unknown>> = {},
): Promise<Contract> {
  const ids: readonly HandledId[] = [
    "systemone",
    "rank",
    "getHealth",
    "getReady",
    "getLivez",
    "listModels",
    "getOpenapi",
    "getTypedOpenapi",
  ];
  const all = { ...Object.fromEntries(ids.map((id) => [id, echo])), ...handlers };
  return createContract({
    document,
    handlers: all as unknown as Handlers, // tests may leave one out or add one
    services: { document: served } as unknown as Services, // no handler here uses the others
  });
}

/** Calls an operation with a body given as bytes, as text, or as data to be written as JSON. */
export function call(contract: Contract, operationId: HandledId, body: unknown = ""): Promise<OutgoingReply> {
  const bytes = body instanceof Uint8Array ? body : new TextEncoder().encode(asText(body));
  return contract.call({
    operationId,
    requestId: REQUEST_ID,
    signal: new AbortController().signal,
    body: bytes,
  });
}

function asText(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}
