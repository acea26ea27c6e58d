import { cpuCount } from "../../src/backends/onnx/runtime/cpu-count.ts";
import type { RenderedRequest } from "../../src/decisions/rendered.ts";
import { createEngine } from "../../src/engine.ts";
import { systemClock } from "../../src/inference/clock.ts";
import { EngineCore } from "../../src/inference/engine-core.ts";
import { planRequest } from "../../src/inference/plan.ts";
import type { ScoredRequest, TokenTree } from "../../src/inference/ports.ts";
import { tokenTreeShape } from "../../src/models/graph/graph.ts";
import { openTokenizer } from "../../src/models/graph/model-tokenizer.ts";
import { type ModelPackage, modelFacts } from "../../src/models/package/package.ts";
import type { TokenTreeShape } from "../../src/onnx/token-tree-io.ts";
import { readRemoteToken } from "../../src/options/exposure.ts";
import type { ServiceOptions } from "../../src/options/table.ts";
import { openServedModel } from "../../src/served-model.ts";
import type { Effort } from "../effort.ts";
import { RequestReader } from "../workloads/reader.ts";
import type { BenchRequest } from "../workloads/workload.ts";
import { forestOf } from "./forest.ts";
import { PairBackend } from "./pair-backend.ts";
import { TaskProcess } from "./process/task-process.ts";

/** A request as texts. Measured time starts here. */
export interface Prepared {
  readonly request: BenchRequest;
  readonly rendered: RenderedRequest;
}

/** The measured engine, the baseline, and the preparation of requests for both. */
export interface Subject {
  readonly modelPackage: ModelPackage;
  readonly shape: TokenTreeShape;
  /** Threads of the baseline and of the kernels: one per processor. */
  readonly threads: number;
  /** Precision reported by the engine. */
  readonly precision: string;
  readonly engine: EngineCore;
  readonly baseline: EngineCore;
  readonly pairBackend: PairBackend;
  /** Process that measures matrix products. Nothing is loaded yet. */
  readonly kernels: TaskProcess;
  prepare(request: BenchRequest): Promise<Prepared>;
  forestOf(prepared: Prepared): Promise<readonly TokenTree[]>;
  close(): Promise<void>;
}

/** Starts the engine with the options of a service, and the baseline with the same model and a thread for each processor. */
export async function openSubject(options: ServiceOptions): Promise<Subject> {
  const modelPackage = await openServedModel(options);
  const tokenizer = await openTokenizer(modelPackage);
  const engine = await createEngine(options, undefined, { remoteToken: readRemoteToken(process.env) });
  const threads = cpuCount();
  const kernels = new TaskProcess();
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
    await Promise.all([engine.close(), baseline.close(), kernels.close()]);
  };
  try {
    await Promise.all([engine.start(), baseline.start()]);
    const reader = await RequestReader.open(engine.model);
    const unaborted = new AbortController().signal;
    return {
      modelPackage,
      shape: tokenTreeShape(modelPackage.manifest.architecture),
      threads,
      precision: engine.health().precision,
      engine,
      baseline,
      pairBackend,
      kernels,
      prepare: async (request) => ({ request, rendered: await reader.read(request) }),
      forestOf: async ({ rendered }) =>
        forestOf(await planRequest(rendered, engine.model.limits, tokenizer, unaborted)),
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
  readonly effort: Effort;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** Reports the current measurement. */
  readonly progress: (text: string) => void;
}
