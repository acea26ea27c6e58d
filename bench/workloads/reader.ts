import { createContractFor } from "../../src/app.ts";
import type { Contract } from "../../src/contract/call.ts";
import type { RenderedRequest } from "../../src/decisions/request.ts";
import { invalidRequest } from "../../src/errors.ts";
import type { Engine, EngineHealth, ModelFacts, ScoredRequest } from "../../src/inference/engine.ts";
import type { ReadRequest } from "../../src/inference/read-request.ts";
import type { BenchRequest } from "./workload.ts";

/**
 * Reads bodies by the contract like the service, without computing anything: the contract runs over an engine that only
 * records requests.
 */
export class RequestReader {
  readonly #contract: Contract;
  readonly #engine: KeepingEngine;

  private constructor(contract: Contract, engine: KeepingEngine) {
    this.#contract = contract;
    this.#engine = engine;
  }

  static async open(model: ModelFacts): Promise<RequestReader> {
    const engine = new KeepingEngine(model);
    return new RequestReader(await createContractFor(engine), engine);
  }

  /** @throws ServiceError INVALID_REQUEST with the issues that the service would report */
  async read({ operation, body }: Pick<BenchRequest, "operation" | "body">): Promise<RenderedRequest> {
    const { signal } = new AbortController();
    const reply = await this.#contract.call({
      operationId: operation,
      requestId: "bench",
      signal,
      body: Buffer.from(body),
    });
    const rendered = this.#engine.kept.get(signal);
    if (rendered) return rendered;
    const { detail } = JSON.parse(reply.body);
    if (reply.status === 422) throw invalidRequest(detail);
    throw new Error(`the contract answered ${reply.status}: ${detail}`);
  }
}

class KeepingEngine implements Engine {
  readonly model: ModelFacts;
  /** Recorded requests by the caller's signal. */
  readonly kept = new WeakMap<AbortSignal, RenderedRequest>();

  constructor(model: ModelFacts) {
    this.model = model;
  }

  async score(request: RenderedRequest, signal: AbortSignal): Promise<ScoredRequest> {
    this.kept.set(signal, request);
    return {
      scores: request.questions.map(({ candidates }) => new Float32Array(candidates.length)),
      inputTokens: 0,
      cachedPairs: 0,
      timing: { queue: 0, tokenize: 0, inference: 0 },
    };
  }

  scoreAll(): Promise<ScoredRequest> {
    throw new Error("the reader's engine takes single requests");
  }

  read(): Promise<ReadRequest> {
    throw new Error("the reader's engine has no tokenizer");
  }

  health(): EngineHealth {
    throw new Error("the reader's engine has no health");
  }
}
