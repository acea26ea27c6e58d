import type { Engine, EngineHealth, ModelFacts } from "../inference/engine.ts";
import { readRequest } from "../inference/read-request.ts";
import { openTokenizer } from "../models/architectures/architectures.ts";
import { modelFacts } from "../models/package/package.ts";
import { openServedManifest } from "../served-model.ts";
import { openTuning } from "../tuning/tuning.ts";
import { readTuningFiles } from "../tuning/tuning-files.ts";
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

/** A model on this machine and tuning files for it. */
export interface TunedModel extends NamedModel {
  readonly tuning: readonly string[];
}

/**
 * Checks, without loading the model, that it is on this machine and that the tuning files of `decision tune` belong to
 * it.
 *
 * @param flag the option's name in messages
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL
 */
export async function checkTuning({ tuning, ...named }: TunedModel, flag = "--tuning"): Promise<void> {
  const model = modelFacts(await openServedManifest(named), named.alias ?? []);
  openTuning(await readTuningFiles(tuning, flag), model, flag);
}
