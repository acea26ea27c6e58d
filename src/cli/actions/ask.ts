import { createContractFor } from "../../app.ts";
import type { HandledId, ReplyBody } from "../../contract/call.ts";
import { createEngine } from "../../engine.ts";
import { invalidRequest, ServiceError } from "../../errors.ts";
import { writeJson } from "../../json/write.ts";
import type { ServiceOptions } from "../../options/table.ts";

export interface AskedAnswer<Body> {
  /** The body as the service writes it. */
  readonly text: string;
  readonly body: Body;
}

export const askSystemone = (body: unknown, options: ServiceOptions) => ask("systemone", body, options);
export const askRank = (body: unknown, options: ServiceOptions) => ask("rank", body, options);

/**
 * Asks the model once, in this process, with the same contract as over HTTP.
 *
 * @param body a request's body; its Maps are written in order
 * @throws ServiceError INVALID_REQUEST | BACKEND_FAILED | INVALID_MODEL
 */
async function ask<Id extends "systemone" | "rank">(
  operationId: Id,
  body: unknown,
  options: ServiceOptions,
): Promise<AskedAnswer<SuccessBody<Id>>> {
  const engine = await createEngine(options);
  try {
    const started = engine.start();
    started.catch(() => {}); // awaited below
    const contract = await createContractFor(engine);
    await started;
    const reply = await contract.call({
      operationId,
      requestId: "local",
      signal: new AbortController().signal,
      body: Buffer.from(writeJson(body)),
    });
    const parsed = JSON.parse(reply.body);
    if (reply.status === 422) throw invalidRequest(parsed.detail);
    if (reply.status !== 200) throw new ServiceError("BACKEND_FAILED", parsed.detail, { cause: reply.cause });
    return { text: reply.body, body: parsed };
  } finally {
    await engine.close();
  }
}

/** The body of a 200: bodies of errors have a `detail`. */
type SuccessBody<Id extends HandledId> = Exclude<ReplyBody<Id>, { readonly detail: unknown }>;
