import type { Engine, EngineHealth, ModelFacts } from "../inference/engine.ts";
import { modelFacts } from "../models/package/package.ts";
import { openServedManifest } from "../served-model.ts";
import type { AskedOperation } from "./deciders/decider.ts";
import { bytesOf } from "./deciders/json-input.ts";

/** A model on this machine. Default: the embedded model. */
export interface NamedModel {
  readonly model?: string;
  readonly modelPath?: string;
  readonly alias?: readonly string[];
}

/**
 * Checks a request against all rules that need no tokens, without loading a model. The model must be on this machine.
 *
 * @param body  the JSON text of the request
 * @param named the model that the request is for
 * @throws ServiceError INVALID_REQUEST | INVALID_OPTION (no such model) | INVALID_MODEL
 */
export async function checkRequest(
  operationId: AskedOperation,
  body: string,
  named: NamedModel = {},
): Promise<void> {
  const model = modelFacts(await openServedManifest(named), named.alias ?? []);
  const { createContractFor } = await import("../app.ts"); // imported here because it is large
  const contract = await createContractFor(dryEngine(model));
  const bytes = bytesOf(body);
  const { signal } = new AbortController();
  await contract.answer({ operationId, requestId: "local", signal, body: bytes });
}

/** An engine that gives every pair the same score, to check requests without a model. */
export function dryEngine(model: ModelFacts): Engine {
  return {
    model,
    score: async ({ questions }) => ({
      scores: questions.map(({ candidates }) => new Float32Array(candidates.length)),
      inputTokens: 0,
      cachedPairs: 0,
      timing: { queue: 0, tokenize: 0, inference: 0 },
    }),
    scoreAll: () => Promise.reject(new Error("a check of a request has one state")),
    read: () => Promise.reject(new Error("a check of a request needs no tokens")),
    health: (): EngineHealth => {
      throw new Error("a check of a request asks for no health");
    },
  };
}
