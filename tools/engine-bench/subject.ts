import { RequestReader } from "../../bench/workloads/reader.ts";
import type { BenchRequest } from "../../bench/workloads/workload.ts";
import { cpuCount } from "../../src/backends/onnx/runtime/cpu-count.ts";
import type { RenderedRequest } from "../../src/decisions/request.ts";
import { createEngine } from "../../src/engine.ts";
import { systemClock } from "../../src/inference/clock.ts";
import type { ScoredRequest } from "../../src/inference/engine.ts";
import { EngineCore } from "../../src/inference/engine-core.ts";
import { openTokenizer } from "../../src/models/architectures/architectures.ts";
import { modelFacts } from "../../src/models/package/package.ts";
import { readRemoteToken } from "../../src/options/exposure.ts";
import type { ServiceOptions } from "../../src/options/table.ts";
import { openServedModel } from "../../src/served-model.ts";
import type { EngineEffort } from "./effort.ts";
import { PairBackend } from "./pair-backend.ts";
import { TaskProcess } from "./task-process.ts";

/** A request as texts. Measured time starts here. */
export interface Prepared {
  readonly request: BenchRequest;
  readonly rendered: RenderedRequest;
}

/** The measured engine, the baseline, and the preparation of requests for both. */
export interface Subject {
  /** Threads of the baseline: one per processor. */
  readonly threads: number;
  /** Precision reported by the engine. */
  readonly precision: string;
  readonly engine: EngineCore;
  readonly baseline: EngineCore;
  readonly pairBackend: PairBackend;
  prepare(request: BenchRequest): Promise<Prepared>;
  close(): Promise<void>;
}

/**
 * Starts the engine with the options of a service, and the baseline with the same model and a thread for each
 * processor.
 */
export async function openSubject(options: ServiceOptions): Promise<Subject> {
  const modelPackage = await openServedModel(options);
  const tokenizer = await openTokenizer(modelPackage);
  const engine = await createEngine(options, undefined, { remoteToken: readRemoteToken(process.env) });
  const threads = cpuCount();
  const pairBackend = new PairBackend(new TaskProcess(), modelPackage, threads);
  const baseline = new EngineCore({
    model: modelFacts(modelPackage),
    // whole requests at once, because the engine's token limit would split the baseline's batches
    settings: { ...engine.health().settings, maxBatchTokens: Number.MAX_SAFE_INTEGER, strict: false },
    backend: pairBackend,
    tokenizer,
    clock: systemClock,
    info: { backend: "pair by pair", device: "cpu", precision: "fp32" },
  });
  const close = async () => {
    await Promise.all([engine.close(), baseline.close()]);
  };
  try {
    await Promise.all([engine.start(), baseline.start()]);
    const reader = await RequestReader.open(engine.model);
    return {
      threads,
      precision: engine.health().precision,
      engine,
      baseline,
      pairBackend,
      prepare: async (request) => ({ request, rendered: await reader.read(request) }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Scores a request and checks that each candidate has a score. */
export async function scoreChecked(
  engine: EngineCore,
  { request, rendered }: Prepared,
  signal: AbortSignal,
): Promise<ScoredRequest> {
  const scored = await engine.score(rendered, signal);
  const expected = [...request.labels.values()].map((labels) => labels.length);
  const isComplete =
    scored.scores.length === expected.length &&
    scored.scores.every((scores, i) => scores.length === expected[i] && scores.every(Number.isFinite));
  if (!isComplete) throw new Error("the engine's scores do not fit the request");
  return scored;
}

/** Inputs of every engine measurement. */
export interface EngineRun {
  readonly subject: Subject;
  readonly effort: EngineEffort;
  readonly seed: number;
  readonly signal: AbortSignal;
}
