import type { ServiceOptions } from "../../src/options/table.ts";
import { type Measurement, measurement, slope } from "../measure/statistics.ts";
import { type Failures, Tally } from "../measure/tally.ts";
import { MIXED } from "../workloads/generated.ts";
import { closedLevel, Loaded, type LoadRun } from "./load.ts";
import { serviceMemory } from "./resident-memory.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { Target } from "./target.ts";

export interface MemoryReport {
  readonly measurements: readonly Measurement[];
  /** Requests of random shapes, and the memory of both processes after each of them. */
  readonly samples: readonly Sample[];
  /** Reason if no growth can be reported. */
  readonly note: string | null;
  /** Failed requests by reason. */
  readonly failures: Failures;
}

interface Sample {
  readonly requests: number;
  readonly serviceMib: number;
  readonly inferenceMib: number;
}

/** Minimum number of requests for growth. With fewer, growth shows filling caches rather than a leak. */
const FEWEST_FOR_GROWTH = 1_000;
const CALLERS = 8;
const MIB = 2 ** 20;

/** Time to ready over several starts, then memory while requests of random shapes come. */
export async function benchMemory(options: ServiceOptions, run: LoadRun): Promise<MemoryReport> {
  const { effort, signal, progress } = run;
  const readySeconds: number[] = [];
  const open: ServerProcess[] = [];
  try {
    for (let start = 0; start < effort.starts; start++) {
      signal.throwIfAborted();
      progress(`start ${start + 1} of ${effort.starts}`);
      await open.pop()?.close();
      const server = await startServer(options);
      open.push(server);
      readySeconds.push(server.readyMs / 1000);
    }
    const [server] = open;
    if (!server) throw new Error("no service was started");
    const { samples, tally } = await sampleMemory(server, run);
    return { ...summarize(samples, readySeconds), samples, failures: tally.counts().failures };
  } finally {
    for (const server of open) await server.close();
  }
}

async function sampleMemory(server: ServerProcess, { effort, seed, signal, progress }: LoadRun) {
  const target = new Target(server.url);
  const loaded = new Loaded(target, "memory", MIXED, seed + 3);
  const samples: Sample[] = [];
  const sample = (requests: number) => {
    const memory = serviceMemory(server.pid);
    if (memory)
      samples.push({ requests, serviceMib: memory.service / MIB, inferenceMib: memory.inference / MIB });
  };
  try {
    sample(0);
    const tally = new Tally();
    for (let part = 0; part < effort.memoryParts && tally.answers < effort.maxRequests; part++) {
      progress(`memory after ${tally.answers} requests`);
      const maxRequests = effort.maxRequests - tally.answers;
      const level = closedLevel(Math.min(CALLERS, maxRequests), {
        effort: { ...effort, maxRequests },
        signal,
      });
      tally.add((await level.run(loaded, part)).tally);
      sample(tally.answers);
    }
    return { samples, tally };
  } finally {
    target.close();
  }
}

/** Memory when the service is ready, and at the end; each with its parts. */
function summarize(samples: readonly Sample[], readySeconds: readonly number[]) {
  const ready = { name: "memory.ready", title: "time from process start to ready", unit: "s" } as const;
  const measurements = [measurement({ ...ready, better: "lower" }, readySeconds)];
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last) return { measurements, note: "this system does not report the memory of processes" };
  const add = (name: string, title: string, mib: number) =>
    measurements.push(measurement({ name: `memory.${name}`, title, unit: "MiB", better: "lower" }, [mib]));
  const both = ({ serviceMib, inferenceMib }: Sample) => serviceMib + inferenceMib;
  const addParts = (name: string, title: string, sample: Sample) => {
    add(name, title, both(sample));
    add(`${name}.service`, "the service", sample.serviceMib);
    add(`${name}.inference`, "the inference process", sample.inferenceMib);
  };
  addParts("idle", "resident memory when ready, both processes", first);
  addParts("after", `resident memory after ${last.requests} requests`, last);
  const settled = samples.filter(({ requests }) => requests >= last.requests / 2);
  const span = last.requests - (settled[0]?.requests ?? last.requests);
  if (span < FEWEST_FOR_GROWTH) {
    return {
      measurements,
      note: `growth needs ${FEWEST_FOR_GROWTH} requests after as many to settle: see --full`,
    };
  }
  const perRequest = slope(settled.map((sample) => ({ x: sample.requests, y: both(sample) })));
  add("growth", `growth per thousand requests, over the last ${span}`, perRequest * 1000);
  return { measurements, note: null };
}
