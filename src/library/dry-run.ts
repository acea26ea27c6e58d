import { readRequest } from "../inference/read-request.ts";
import { openTokenizer } from "../models/graph/model-tokenizer.ts";
import { modelFacts } from "../models/package/package.ts";
import { openServedManifest } from "../served-model.ts";
import { dryEngine, type NamedModel } from "./check-request.ts";
import { bytesOf } from "./deciders/json-input.ts";

/**
 * Explains what the model would read of a request, without loading the model: its tokenizer alone. The model must be on this machine.
 *
 * @param body  the JSON text of a request of `systemone`
 * @param named the model that would be asked
 * @returns the JSON text of an explanation, as of a service for a dry run
 * @throws ServiceError INVALID_REQUEST | INVALID_OPTION (no such model) | INVALID_MODEL
 */
export async function dryRun(body: string, named: NamedModel = {}): Promise<string> {
  const served = await openServedManifest(named);
  const model = modelFacts(served, named.alias ?? []);
  const [{ createExplainContractFor }, tokenizer] = await Promise.all([
    import("../app.ts"),
    openTokenizer(served),
  ]);
  const contract = await createExplainContractFor({
    ...dryEngine(model),
    read: (request, signal) => readRequest(request, model.limits, tokenizer, signal),
  });
  const { signal } = new AbortController();
  const told = await contract.answer({
    operationId: "explain",
    requestId: "local",
    signal,
    body: bytesOf(body),
  });
  return told.body;
}
