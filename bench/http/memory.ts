import type { ServiceOptions } from "../../src/options/table.ts";
import { type Measurement, measurement } from "../measure/measurement.ts";
import { type OutcomeCounts, Outcomes } from "../measure/outcomes.ts";
import { slope } from "../measure/statistics.ts";
import { MIXED } from "../workloads/traffic.ts";
import { closedLoop } from "./closed-loop.ts";
import { Loaded, type LoadRun } from "./load.ts";
import { serviceMemory } from "./resident-memory.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { Target } from "./target.ts";

export interface MemoryReport {
  readonly measurements: readonly Measurement[];
  /** Requests of random shapes, and the memory of both processes after each of them. */
  readonly samples: readonly {
    readonly requests: number;
    readonly serviceMib: number;
    readonly inferenceMib: number;
  }[];
  /** Reason if no growth can be reported. */
  readonly note: string | null;
  /** Failed requests by reason. */
  readonly failures: OutcomeCounts["failures"];
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
    const { samples, outcomes } = await sampleMemory(server, run);
    return { ...summarize(samples, readySeconds), samples, failures: outcomes.counts().failures };
  } finally {
    for (const server of open) await server.close();
  }
}

async function sampleMemory(server: ServerProcess, { effort, seed, signal, progress }: LoadRun) {
  const target = new Target(server.url);
  const loaded = new Loaded(target, "memory", MIXED, seed + 3);
  const samples: MemoryReport["samples"][number][] = [];
  const sample = (requests: number) => {
    const memory = serviceMemory(server.pid);
    if (memory)
      samples.push({ requests, serviceMib: memory.service / MIB, inferenceMib: memory.inference / MIB });
  };
  try {
    sample(0);
    await loaded.meet(signal);
    const outcomes = new Outcomes();
    for (let part = 0; part < effort.memoryParts && outcomes.answers < effort.maxRequests; part++) {
      progress(`memory after ${outcomes.answers} requests`);
      const limits = { budgetMs: effort.closedMs, maxRequests: effort.maxRequests - outcomes.answers };
      const result = await closedLoop(target, {
        callers: Math.min(CALLERS, limits.maxRequests),
        next: loaded.next,
        signal,
        ...limits,
      });
      outcomes.add(result.outcomes);
      sample(outcomes.answers);
    }
    return { samples, outcomes };
  } finally {
    target.close();
  }
}

function summarize(samples: MemoryReport["samples"], readySeconds: readonly number[]) {
  const mib = { unit: "MiB", better: "lower" } as const;
  const measurements = [
    measurement(
      { name: "memory.ready", title: "time from process start to ready", unit: "s", better: "lower" },
      readySeconds,
    ),
  ];
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last) return { measurements, note: "this system does not report the memory of processes" };
  const both = ({ serviceMib, inferenceMib }: typeof first) => serviceMib + inferenceMib;
  measurements.push(
    measurement({ ...mib, name: "memory.idle", title: "resident memory when ready, both processes" }, [
      both(first),
    ]),
    measurement({ ...mib, name: "memory.idle.service", title: "the service" }, [first.serviceMib]),
    measurement({ ...mib, name: "memory.idle.inference", title: "the inference process" }, [
      first.inferenceMib,
    ]),
    measurement({ ...mib, name: "memory.after", title: `resident memory after ${last.requests} requests` }, [
      both(last),
    ]),
    measurement({ ...mib, name: "memory.after.service", title: "the service" }, [last.serviceMib]),
    measurement({ ...mib, name: "memory.after.inference", title: "the inference process" }, [
      last.inferenceMib,
    ]),
  );
  const settled = samples.filter(({ requests }) => requests >= last.requests / 2);
  const span = last.requests - (settled[0]?.requests ?? last.requests);
  if (span < FEWEST_FOR_GROWTH) {
    return {
      measurements,
      note: `growth needs ${FEWEST_FOR_GROWTH} requests after as many to settle: see --full`,
    };
  }
  const perRequest = slope(settled.map((sample) => ({ x: sample.requests, y: both(sample) })));
  const title = `growth per thousand requests, over the last ${span}`;
  measurements.push(measurement({ ...mib, name: "memory.growth", title }, [perRequest * 1000]));
  return { measurements, note: null };
}
