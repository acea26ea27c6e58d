import type { Contract } from "../../src/contract/call.ts";
import { type Measurement, measurement } from "../measure/measurement.ts";
import { interleave } from "../measure/rounds.ts";
import { median } from "../measure/statistics.ts";
import { SHORT } from "../workloads/fixed-sizes.ts";
import type { BenchRequest } from "../workloads/workload.ts";
import type { LoadRun } from "./load.ts";
import { findFault } from "./reply-check.ts";
import type { Target } from "./target.ts";

/** Requests per round, one caller. */
const CALLS = 12;

/** Latency added by HTTP: short requests of one caller over a keep-alive connection, against the same contract in this process. */
export async function httpOverhead(
  target: Target,
  contract: Contract,
  { effort, seed, signal }: LoadRun,
): Promise<readonly Measurement[]> {
  let next = 0;
  const arm = (ask: (request: BenchRequest) => Promise<{ status: number; body: string }>) => async () => {
    const took: number[] = [];
    for (let i = 0; i < Math.min(CALLS, effort.maxRequests); i++) {
      const request = SHORT.request(seed + 2, next++);
      const askedAt = performance.now();
      const { status, body } = await ask(request);
      took.push(performance.now() - askedAt);
      const fault = findFault(request, status, body);
      if (fault !== undefined) throw new Error(`a wrong answer: ${fault}`);
    }
    return median(took);
  };
  const arms = {
    http: arm((request) => target.sendSurely(request, signal)),
    inProcess: arm(({ operation, body }) =>
      contract.call({ operationId: operation, requestId: "bench", signal, body: Buffer.from(body) }),
    ),
  };
  await arms.http();
  await arms.inProcess();
  const { http, inProcess } = await interleave(arms, {
    rounds: 2 * effort.rounds,
    budgetMs: effort.figureMs,
    signal,
  });
  const differences = http.map((value, i) => value - (inProcess[i] ?? Number.NaN));
  const facts = { unit: "ms", better: "lower" } as const;
  return [
    measurement(
      { ...facts, name: "http.overhead", title: "short request: latency added by HTTP" },
      differences,
    ),
    measurement({ ...facts, name: "http.overhead.http", title: "over HTTP" }, http),
    measurement({ ...facts, name: "http.overhead.in-process", title: "without HTTP" }, inProcess),
  ];
}
