// Measures the duration of the whole profile against a server that delays each answer and has a model that takes no
// time:
//
//     node --import tsx scripts/measure/conformance-speed.ts [--delay 10] [--runs 3] [--slowest 10]
//
// Run `npm run build` first. A negative delay measures the server without any.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { runConformance } from "../../src/conformance/index.ts";
import { FaultyService } from "../../test/conformance/faulty-service.ts";

const { values } = parseArgs({
  options: {
    delay: { type: "string", default: "10" },
    runs: { type: "string", default: "3" },
    slowest: { type: "string", default: "10" },
  },
});
const [delayMs, runs, slowest] = [values.delay, values.runs, values.slowest].map(Number);
if (![delayMs, runs, slowest].every(Number.isFinite))
  throw new Error("--delay, --runs and --slowest are numbers");

const service = await FaultyService.start();
service.plant({
  reply: async (reply) => {
    if ((delayMs ?? 0) >= 0) await sleep(delayMs);
    return reply;
  },
});
for (let run = 0; run < (runs ?? 1); run += 1) {
  const report = await runConformance({ baseUrl: service.url });
  const { failed, passed } = report.counts;
  console.log(
    `${(report.elapsedMs / 1000).toFixed(1)} s, ${report.requests} requests, ${passed} kept, ${failed} broken`,
  );
  const times = report.results.toSorted((one, other) => other.elapsedMs - one.elapsedMs).slice(0, slowest);
  if (run === 0) for (const { id, elapsedMs } of times) console.log(`  ${Math.round(elapsedMs)} ms ${id}`);
}
await service.stop();
