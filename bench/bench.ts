import { createContractFor } from "../src/app.ts";
import { invalidOption } from "../src/errors.ts";
import { dryEngine } from "../src/library/checks.ts";
import type { Manifest } from "../src/models/package/manifest.ts";
import { type ModelPackage, modelFacts } from "../src/models/package/package.ts";
import { OPTION_TABLE, type ServiceOptions } from "../src/options/table.ts";
import { openServedModel } from "../src/served-model.ts";
import { bounded, type Effort, FULL, inRounds, QUICK } from "./effort.ts";
import { benchHttp, type HttpReport } from "./http/bench-http.ts";
import type { LoadRun } from "./http/load.ts";
import { benchMemory } from "./http/memory.ts";
import { startServer } from "./http/server-process.ts";
import { Target } from "./http/target.ts";
import { describeCommit, describeMachine, describeVersions } from "./report/machine.ts";
import type { Report } from "./report/report.ts";
import { MIXED, WORKLOADS } from "./workloads/generated.ts";
import { type Check, type RequestsFile, readRequests } from "./workloads/requests-file.ts";
import type { Workload } from "./workloads/workload.ts";

/** Parts of `decision bench`. */
export const PARTS = ["http", "memory"] as const;

/** Options of a run, with defaults filled in. */
export interface BenchOptions {
  /** Options of the service that is started. */
  readonly service: ServiceOptions;
  readonly parts: readonly (typeof PARTS)[number][];
  readonly isFull: boolean;
  readonly seed: number;
  /** Bounds of each measurement, if smaller than those of the effort. */
  readonly seconds?: number | undefined;
  readonly count?: number | undefined;
  /** Name of a generated workload for HTTP. */
  readonly workload?: string | undefined;
  /** Requests instead of a generated workload. */
  readonly requests?: RequestsFile | undefined;
  /** Running servers: HTTP part only. */
  readonly url?: string | undefined;
  readonly against?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Rate of the open loop, in requests per second. */
  readonly rate?: number | undefined;
}

export interface BenchControl {
  /** Stops the run between two measurements, with its reason. */
  readonly signal: AbortSignal;
  /** Receives the name of the current measurement. */
  readonly progress: (text: string) => void;
}

/**
 * Runs the benchmark.
 *
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL | INTERNAL; the signal's reason
 */
export async function bench(options: BenchOptions, control: BenchControl): Promise<Report> {
  const startedAt = new Date();
  const startMs = performance.now();
  const measured = options.isFull ? FULL : QUICK;
  const effort = bounded(options.against === undefined ? measured : inRounds(measured, 5), options);
  const run: LoadRun = { effort, seed: options.seed, ...control };
  const modelPackage = await openServedModel(options.service);
  const { manifest } = modelPackage;
  const isLocal = options.url === undefined;
  const parts = isLocal ? options.parts : ["http"];
  const workload = await chooseWorkload(options, modelPackage);

  const http = parts.includes("http") ? await benchServers(options, run, workload) : null;
  const memory = parts.includes("memory") ? await benchMemory(options.service, run) : null;
  return {
    format: "typed-decisions-bench-v1",
    startedAt: startedAt.toISOString(),
    seconds: (performance.now() - startMs) / 1000,
    options: describeOptions(options, effort),
    seed: options.seed,
    machine: describeMachine(),
    versions: describeVersions(),
    commit: describeCommit() ?? null,
    model: isLocal ? { id: manifest.id, weightsSha256: weightsDigest(manifest) } : null,
    http,
    memory,
  };
}

/** @throws ServiceError INVALID_OPTION */
async function chooseWorkload(
  { requests, workload, url, service }: BenchOptions,
  modelPackage: ModelPackage,
): Promise<Workload> {
  if (requests !== undefined) {
    const contract = await createContractFor(dryEngine(modelFacts(modelPackage, service.alias)));
    const { signal } = new AbortController();
    const check: Check = (operationId, body) =>
      contract.answer({ operationId, requestId: "bench", signal, body: Buffer.from(body) });
    // a remote server has its own models
    return readRequests(requests, check, { anyModel: url !== undefined });
  }
  if (workload === undefined) return MIXED;
  const chosen = WORKLOADS.find(({ name }) => name === workload);
  if (chosen) return chosen;
  const names = WORKLOADS.map(({ name }) => name).join(", ");
  throw invalidOption(`--workload: expected one of ${names}, got another name.`);
}

function weightsDigest({ files }: Manifest): string | null {
  return files["model.safetensors"] ?? files["model.onnx"] ?? null;
}

/** Measures the server at `url`, or a service that it starts as a user does, and the one at `against`. */
async function benchServers(
  { url, against, apiKey, service, rate }: BenchOptions,
  run: LoadRun,
  workload: Workload,
): Promise<HttpReport> {
  const subjects = [
    ...(url === undefined ? [] : [{ label: "service", target: new Target(url, apiKey) }]),
    ...(against === undefined ? [] : [{ label: "against", target: new Target(against, apiKey) }]),
  ].map((subject) => ({ ...subject, url: subject.target.url as string | null }));
  if (url === undefined) run.progress("starting the service");
  const server = url === undefined ? await startServer(service) : undefined;
  if (server) subjects.unshift({ label: "service", target: new Target(server.url), url: null });
  try {
    return await benchHttp(subjects, workload, rate, run);
  } finally {
    for (const { target } of subjects) target.close();
    await server?.close();
  }
}

function describeOptions(options: BenchOptions, effort: Effort): Report["options"] {
  const { parts, seconds = null, count = null, rate = null, workload = null, requests } = options;
  const { url = null, against = null } = options;
  const defaults = new Map<string, unknown>(
    Object.entries(OPTION_TABLE).map(([name, row]) => [name, row.default]),
  );
  const changed = Object.entries(options.service).filter(
    ([name, value]) => String(value) !== String(defaults.get(name)),
  );
  return {
    ...{ effort: effort.name, parts, seconds, count, rate, workload, requests: requests?.name ?? null },
    ...{ url, against, service: Object.fromEntries(changed) },
  };
}
