import { readRequest } from "../inference/read-request.ts";
import { openTokenizer } from "../models/architectures/architectures.ts";
import { modelFacts } from "../models/package/package.ts";
import { openServedManifest } from "../served-model.ts";
import { dryEngine, type NamedModel } from "./check-request.ts";
import { bytesOf } from "./deciders/json-input.ts";

/**
 * Explains the tokens of a request. Loads only the model's tokenizer. The model must be on this machine.
 *
 * @param body the JSON text of a request to `systemone`
 * @param named the model that the request is for
 * @returns the JSON text of an explanation, like a service's for a dry run
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
