// Measures the processor time of metrics: per request with its own batch, per scrape, and while idle.
// `npm run build && node scripts/measure/metrics-cost.mjs`
//
// The metrics code is measured alone, because its cost is far below the difference between two runs of a service
// (options-cost.mjs).
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ServiceMetrics } from "../../dist/src/telemetry/metrics/service-metrics.js";

parseArgs(); // there are no flags: names an unknown one

const REQUESTS = 200_000;
const SCRAPES = 500;
const IDLE_SECONDS = 5;
const counters = {
  queued: 1,
  running: 1,
  estimatedWaitMs: 1,
  batches: 1,
  forwards: 1,
  cacheHits: 1,
  cacheEntries: 1,
};
const outcomes = { completed: 1, rejected: 1, timedOut: 1, failed: 1, cancelled: 1 };
const health = {
  status: "ready",
  backend: "onnx",
  device: "cpu",
  precision: "int8",
  counters: { ...counters, ...outcomes },
  settings: { queueCapacity: 128, cacheSize: 0 },
};
let noteBatch;
const metrics = new ServiceMetrics(
  {
    model: { id: "acme/Model@0", version: "v1" },
    health: () => health,
    measurements: () => ({
      backend: { stateHits: 1, stateMisses: 1, restarts: 0, residentBytes: 1 },
      texts: { hits: 1, misses: 1 },
    }),
    onBatch(listener) {
      noteBatch = listener;
    },
  },
  "0",
);

function note(count) {
  for (let index = 0; index < count; index += 1) {
    const ms = 5 + (index % 50);
    const inference = {
      timing: { queue: ms / 10, tokenize: 0.2, inference: ms / 2 },
      ...{ inputTokens: 60, pairs: 4, cachedPairs: index % 2 },
    };
    metrics.noteRequest({
      method: "POST",
      operation: "systemone",
      status: 200,
      ms,
      requestId: "a",
      inference,
    });
    noteBatch({ requests: 1, pairs: 4, tokens: 60, ms });
  }
}

/** Milliseconds of processor time. */
async function cpuMs(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

note(REQUESTS / 10); // warm-up for the JIT compiler
const noted = await cpuMs(() => note(REQUESTS));
const scraped = await cpuMs(async () => {
  for (let index = 0; index < SCRAPES; index += 1) await metrics.write();
});
const idle = await cpuMs(() => sleep(IDLE_SECONDS * 1000));
console.log(`a request and its batch: ${((1000 * noted) / REQUESTS).toFixed(2)} us of processor time`);
console.log(`a scrape: ${(scraped / SCRAPES).toFixed(2)} ms of processor time`);
console.log(`idle: ${(idle / IDLE_SECONDS / 10).toFixed(2)} % of a processor, for the event loop's lag`);
