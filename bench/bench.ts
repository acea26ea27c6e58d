import { ServiceError } from "../src/errors.ts";
import type { Manifest } from "../src/models/package/manifest.ts";
import { type ModelPackage, modelFacts } from "../src/models/package/package.ts";
import { OPTION_TABLE } from "../src/options/table.ts";
import { openServedModel } from "../src/served-model.ts";
import { bounded, type Effort, FULL, inRounds, QUICK } from "./effort.ts";
import { benchHttp, type HttpReport, type HttpSubject } from "./http/bench-http.ts";
import type { LoadRun } from "./http/load.ts";
import { benchMemory } from "./http/memory.ts";
import { startServer } from "./http/server-process.ts";
import { Target } from "./http/target.ts";
import type { BenchOptions, Part } from "./options.ts";
import { describeCommit, describeMachine, describeVersions } from "./report/machine.ts";
import type { Report } from "./report/report.ts";
import { RequestReader } from "./workloads/reader.ts";
import { type Check, ofAnyModel, readRequests } from "./workloads/requests-file.ts";
import { WORKLOADS } from "./workloads/table.ts";
import { MIXED } from "./workloads/traffic.ts";
import type { Workload } from "./workloads/workload.ts";

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
  const parts: readonly Part[] = options.url === undefined ? options.parts : ["http"];
  const workload = await chooseWorkload(options, modelPackage);

  const isLocal = options.url === undefined;
  const http = parts.includes("http")
    ? await (isLocal ? benchOwnService : benchServers)(options, run, workload)
    : null;
  const memory = parts.includes("memory") ? await benchMemory(options.service, run) : null;
  return {
    format: "typed-decisions-bench-v1",
    startedAt: startedAt.toISOString(),
    seconds: (performance.now() - startMs) / 1000,
    options: describeOptions(options, effort),
    notes: fewerTokensNotes(http, workload),
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
async function chooseWorkload(options: BenchOptions, modelPackage: ModelPackage): Promise<Workload> {
  if (options.requests !== undefined) {
    const reader = await RequestReader.open(modelFacts(modelPackage, options.service.alias));
    const check: Check = (request) => reader.read(request);
    // a remote server has its own models
    return readRequests(options.requests, options.url === undefined ? check : ofAnyModel(check));
  }
  if (options.workload === undefined) return MIXED;
  const chosen = WORKLOADS.find(({ name }) => name === options.workload);
  if (chosen) return chosen;
  const names = WORKLOADS.map(({ name }) => name).join(", ");
  throw new ServiceError("INVALID_OPTION", `--workload: expected one of ${names}, got another name.`);
}

/** Notes on servers whose limits are below the workload's sizes, one line each. */
function fewerTokensNotes(http: HttpReport | null, { isOwn = false }: Workload): string[] {
  const smaller = isOwn ? [] : (http?.servers.filter(({ facts }) => facts.takesFewerTokens) ?? []);
  return smaller.map(
    ({ label, facts }) =>
      `${label}: ${facts.model} accepts fewer tokens than some requests have; requests that it refuses as too long (422) count neither in rates and latencies nor as failures`,
  );
}

function weightsDigest({ files }: Manifest): string | null {
  return files["model.safetensors"] ?? files["model.onnx"] ?? null;
}

/** Starts a service as a user does. */
async function benchOwnService(options: BenchOptions, run: LoadRun, workload: Workload): Promise<HttpReport> {
  run.progress("starting the service");
  const server = await startServer(options.service);
  const target = new Target(server.url);
  const others = options.against === undefined ? [] : [subjectAt(options.against, "against", options.apiKey)];
  const subjects = [{ target, label: "service", url: null }, ...others];
  try {
    return await benchHttp(subjects, workload, options.rate, run);
  } finally {
    for (const subject of subjects) subject.target.close();
    await server.close();
  }
}

/** Running servers. */
async function benchServers(options: BenchOptions, run: LoadRun, workload: Workload): Promise<HttpReport> {
  const { url = "", against, apiKey } = options;
  const others = against === undefined ? [] : [subjectAt(against, "against", apiKey)];
  const subjects = [subjectAt(url, "service", apiKey), ...others];
  try {
    return await benchHttp(subjects, workload, options.rate, run);
  } finally {
    for (const { target } of subjects) target.close();
  }
}

function subjectAt(url: string, label: string, apiKey: string | undefined): HttpSubject {
  const target = new Target(url, apiKey);
  return { target, label, url: target.url };
}

function describeOptions(options: BenchOptions, effort: Effort): Report["options"] {
  const { parts, seconds = null, count = null, rate = null, workload = null, requests = null } = options;
  const { url = null, against = null } = options;
  const defaults = new Map<string, unknown>(
    Object.entries(OPTION_TABLE).map(([name, row]) => [name, row.default]),
  );
  const changed = Object.entries(options.service).filter(
    ([name, value]) => String(value) !== String(defaults.get(name)),
  );
  const service = Object.fromEntries(changed);
  return { effort: effort.name, parts, seconds, count, rate, workload, requests, url, against, service };
}
