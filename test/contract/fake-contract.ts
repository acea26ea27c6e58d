import type {
  Contract,
  HandledId,
  Handlers,
  OutgoingReply,
  ReadFacts,
  Services,
} from "../../src/contract/call.ts";
import { createContract } from "../../src/contract/contract.ts";
import { systemClock } from "../../src/inference/clock.ts";
import { document } from "./document.ts";

export const REQUEST_ID = "test-1";

/** A reply of a handler, which is not the contract's. */
interface FakeReply {
  readonly status: number;
  readonly body: unknown;
}

const echo = async (call: { readonly body?: unknown }) => ({ status: 200, body: { received: call.body } });

/** An operation that asks nothing of the model and answers with what the handler returns. */
const asInference = (handle: (call: object) => Promise<FakeReply>) => ({
  read: async (body: unknown, { requestId, signal }: ReadFacts) => ({
    texts: [],
    facts: await handle({ body, requestId, signal }),
  }),
  answer: ({ body }: FakeReply) => ({ body }),
});
const BODILESS = [
  "getHealth",
  "getReady",
  "getLivez",
  "listModels",
  "getOpenapi",
  "getTypedOpenapi",
] as const;

/** What the runner needs where the model is not asked. */
const SERVICES = { engine: { model: {} }, clock: systemClock, modelNames: [] };

/**
 * A contract over the given handlers and, for the other operations, echoes. Handlers of operations with a body get it as a member
 * of their argument.
 *
 * @param served the document that it serves
 */
export function fakeContract(
  handlers: Readonly<Record<string, unknown>> = {},
  served: Readonly<Record<string, unknown>> = {},
): Promise<Contract> {
  const { systemone, rank, ...others } = { systemone: echo, rank: echo, ...handlers };
  const all = {
    ...Object.fromEntries(BODILESS.map((id) => [id, echo])),
    systemone: inferenceOf(systemone),
    rank: inferenceOf(rank),
    ...others,
  };
  return createContract({
    document,
    handlers: all as unknown as Handlers, // tests may leave one out or add one
    services: { ...SERVICES, document: served } as unknown as Services, // nothing here uses the others
  });
}

/** Anything but a function stays as it is. */
function inferenceOf(handler: unknown): unknown {
  return typeof handler === "function" ? asInference((call) => handler(call)) : handler;
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
