import type { BegunBackend } from "./backends/backend.ts";
import { beginBackend } from "./backends/begin-backend.ts";
import { chooseDevice } from "./backends/onnx/process/choose-device.ts";
import { cpuCount } from "./backends/onnx/runtime/cpu-count.ts";
import { invalidOption } from "./errors.ts";
import { systemClock } from "./inference/clock.ts";
import { EngineCore } from "./inference/engine-core.ts";
import { openTokenizer } from "./models/architectures/architectures.ts";
import { architectureFacts } from "./models/architectures/manifests.ts";
import { type ModelPackage, modelFacts } from "./models/package/package.ts";
import type { ServiceOptions } from "./options/table.ts";
import { openServedModel } from "./served-model.ts";
import { needsVectors, openTuning } from "./tuning/tuning.ts";
import { readTuningFiles } from "./tuning/tuning-files.ts";

export type { EngineCore };

/** A run counts as hung if it takes longer than a request's deadline by this time. */
const HANG_SLACK_MS = 5_000;

/** Receives events for the operator's log, never content of requests. */
export type EngineLog = (event: string, details: Record<string, unknown>) => void;

/**
 * Creates an engine for a verified model package. Starts the inference process at once; call `close()` to end it. The
 * engine accepts requests after `start()`, which loads the model.
 *
 * @param options complete and checked options, from `resolveOptions`
 * @param needs   settings that are not options
 * @throws ServiceError INVALID_OPTION (unknown model, a tuning that does not fit, a device that cannot compute the
 *   model) | INVALID_MODEL
 */
export async function createEngine(
  options: ServiceOptions,
  givenLog: EngineLog = () => {},
  needs: EngineNeeds = {},
): Promise<EngineCore> {
  const log = harmless(givenLog);
  // started first, because starting a process takes longer than reading the package
  const begun = await beginBackend({
    ...options,
    remote: { ...options, token: needs.remoteToken },
  });
  try {
    return await assemble(options, begun, log, needs);
  } catch (error) {
    begun.abandon();
    throw error;
  }
}

async function assemble(
  options: ServiceOptions,
  begun: BegunBackend,
  log: EngineLog,
  needs: EngineNeeds,
): Promise<EngineCore> {
  const tunings = await readTuningFiles(options.tuning);
  const modelPackage = await openServedModel(options);
  const model = modelFacts(modelPackage, options.alias);
  const tuning = tunings.length === 0 ? undefined : openTuning(tunings, model);
  const hasVectors = needs.hasVectors === true || needsVectors(tunings);
  const { hasOwnGraph, loadMs } = architectureFacts(modelPackage.manifest.architecture.type);
  if (hasVectors && hasOwnGraph)
    throw invalidOption(
      `${model.id} has its own ONNX graph, which returns no vectors, so it cannot use a tuning of the kind head.`,
    );
  const device =
    options.backend === "onnx" ? await onnxDevice(options, modelPackage, hasVectors, log) : undefined;
  const tokenizer = await openTokenizer(modelPackage);
  return new EngineCore({
    model,
    tuning,
    settings: {
      queueCapacity: options.queueSize,
      maxBatchRequests: options.maxBatchSize,
      maxBatchTokens: options.maxBatchTokens,
      batchWaitMs: options.batchWaitMs,
      cacheSize: options.cacheSize,
      strict: options.strict,
      deadlineMs: options.deadlineMs,
    },
    backend: begun.open({
      modelPackage,
      threads: cpuCount(),
      // a package's own graph has no outputs for keys and values
      stateCacheBytes: hasOwnGraph ? 0 : options.stateCacheMb * 2 ** 20,
      hasVectors,
      device,
      loadMs,
      clock: systemClock,
      hangMs: options.deadlineMs + HANG_SLACK_MS,
      log,
    }),
    tokenizer,
    sharesTokens: !hasOwnGraph,
    clock: systemClock,
    info: {
      backend: options.backend,
      device: options.backend === "remote" ? "remote" : (device ?? options.device),
      precision: begun.precisionOf(modelPackage),
    },
    log,
    onStarted: ({ precision }) => {
      for (const { name, file } of tunings)
        if (file.precision !== precision)
          log("a tuning was fitted to scores of another precision", {
            name,
            fitted: file.precision,
            precision,
          });
    },
  });
}

/** A line that cannot be written must not stop a restart or a start. */
function harmless(log: EngineLog): EngineLog {
  return (event, details) => {
    try {
      log(event, details);
    } catch {
      // there is no other place to tell it
    }
  };
}

/** @throws ServiceError INVALID_OPTION for a device that cannot compute the model */
function onnxDevice(
  { device, precision }: ServiceOptions,
  modelPackage: ModelPackage,
  hasVectors: boolean,
  log: EngineLog,
) {
  return chooseDevice(
    { device, precision: precision === "fp32" ? "fp32" : "int8", modelPackage, hasVectors },
    log,
  );
}

/** Settings that are not options. */
export interface EngineNeeds {
  /** Whether to return vectors even if no tuning needs them. */
  readonly hasVectors?: boolean;
  /**
   * Token for the server at `remoteUrl`, unless `remoteTokenFile` is set. Not an option, because options are logged.
   */
  readonly remoteToken?: string | undefined;
}
