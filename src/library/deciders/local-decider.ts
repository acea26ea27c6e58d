import type { FastifyInstance } from "fastify";
import type { AppOptions } from "../../app.ts";
import type { Contract } from "../../contract/call.ts";
import { createEngine, type EngineLog } from "../../engine.ts";
import { ServiceError } from "../../errors.ts";
import type { Engine, ModelFacts, ServedEngine } from "../../inference/engine.ts";
import { completeOptions } from "../../options/resolve.ts";
import type { ServiceOptions } from "../../options/table.ts";
import type { Log } from "../../server/log.ts";
import { type Ask, type Decider, typedCalls } from "./decider.ts";
import { answerWith } from "./fetch.ts";
import { bytesOf } from "./json-input.ts";
import { cancelled, ownSignal, WaitingLine } from "./waiting-line.ts";

/** Options that have an effect without a listening server. See docs/configuration.md. */
type EngineOption =
  | "model"
  | "modelPath"
  | "alias"
  | "tuning"
  | "backend"
  | "device"
  | "precision"
  | "remoteUrl"
  | "remoteModel"
  | "remoteConnections"
  | "remoteTimeoutMs"
  | "remoteConnectTimeoutMs"
  | "remoteCa"
  | "remoteTokenFile"
  | "queueSize"
  | "maxBatchSize"
  | "maxBatchTokens"
  | "batchWaitMs"
  | "cacheSize"
  | "stateCacheMb"
  | "deadlineMs"
  | "strict";

export interface DeciderOptions extends Partial<Pick<ServiceOptions, EngineOption>> {
  /**
   * Receives events for a log, such as a crash or restart of the inference process. They never contain request content.
   */
  readonly onEvent?: EngineLog | undefined;
  /** Token for the server at `remoteUrl`. */
  readonly remoteToken?: string | undefined;
}

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Options of a web server on top of a decider. */
export interface ServerOptions extends Partial<Omit<AppOptions, "log">> {
  readonly log?: Log | undefined;
}

/** A decider with a model that it has loaded. */
export interface LocalDecider extends Decider {
  readonly model: ModelFacts;
  /**
   * The web service as a function from Request to Response, for use inside another web server. It does not check keys.
   * Its paths are those of the contract, such as `/v1/systemone`.
   */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Creates the web service as a Fastify server that does not listen yet. Close it before the decider. */
  createApp(options?: ServerOptions): Promise<FastifyInstance>;
}

/**
 * Loads a model into a separate process and waits until it is ready.
 *
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL | BACKEND_FAILED
 */
export async function createDecider(options: DeciderOptions = {}): Promise<LocalDecider> {
  return openDecider(await startEngine(options));
}

/**
 * Starts an engine with a contract over it.
 *
 * @param needs   whether the model must return vectors
 * @param wrapped the engine as the contract sees it
 * @throws ServiceError as `createDecider`
 */
export async function startEngine(
  { onEvent, remoteToken, ...given }: DeciderOptions,
  needs: { readonly hasVectors?: boolean } = {},
  wrapped = (engine: Engine): Engine => engine,
) {
  const options = completeOptions(given);
  const engine = await createEngine(options, onEvent, { ...needs, remoteToken });
  try {
    const started = engine.start();
    started.catch(() => {}); // awaited below
    const { createContractFor } = await import("../../app.ts"); // loads in parallel, because the web server is large
    const contract = await createContractFor(wrapped(engine));
    await started;
    return { engine, contract, options };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** The parts of a started engine that a decider needs. */
export interface DecidingEngine extends ServedEngine {
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface DeciderParts {
  readonly engine: DecidingEngine;
  readonly contract: Contract;
  readonly options: ServiceOptions;
}

/** Creates a decider on a started engine, which it owns from then on. */
export function openDecider({ engine, contract, options }: DeciderParts): LocalDecider {
  const line = new WaitingLine(options.queueSize);
  let closing: Promise<void> | undefined;

  const ask: Ask = async (operationId, text, options = {}) => {
    const signal = ownSignal(options.signal);
    if (signal.aborted) throw cancelled(signal);
    const body = bytesOf(text);
    try {
      const { body: answer } = await line.run(async () => {
        const answering = operationId === "explain" ? await explanations() : contract;
        return answering.answer({ operationId, requestId: "local", signal, body });
      }, signal);
      return answer;
    } catch (error) {
      if (signal.aborted) throw cancelled(signal);
      if (error instanceof ServiceError) throw error;
      throw new ServiceError("INTERNAL", "The decision failed.", { cause: error });
    }
  };

  let explaining: Promise<Contract> | undefined;
  /** Loaded on the first call of `explain`. */
  function explanations(): Promise<Contract> {
    explaining ??= import("../../app.ts").then(({ createExplainContractFor }) =>
      createExplainContractFor(engine),
    );
    return explaining;
  }

  async function app({ log = SILENT, ...given }: ServerOptions = {}): Promise<FastifyInstance> {
    const { createApp } = await import("../../app.ts");
    return createApp(engine, { ...options, ...given, log });
  }
  let served: Promise<FastifyInstance> | undefined;

  async function close(): Promise<void> {
    await line.close();
    await engine.drain();
    if (served !== undefined) await (await served).close();
    await engine.close();
  }

  const decider = {
    ...typedCalls(ask),
    model: engine.model,
    ask,
    createApp: app,
    async fetch(request: Request): Promise<Response> {
      served ??= app();
      return answerWith(await served, request);
    },
    close() {
      closing ??= close();
      return closing;
    },
    [Symbol.asyncDispose]: () => decider.close(),
  };
  return decider;
}
