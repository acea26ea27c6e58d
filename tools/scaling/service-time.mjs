// Measures the processor time of the service process per request, without the inference process, for docs/scaling.md.
// `npm run build && node tools/scaling/service-time.mjs [--requests 400] [--rounds 3] [--callers 8] [-- FLAGS OF
// decision serve]`. Needs Linux.
import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { spreadOf } from "../../dist/bench/measure/statistics.js";
import { Random } from "../../dist/bench/random.js";
import { sized } from "../../dist/bench/workloads/fixed-sizes.js";
import { startService } from "../overload/service.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    requests: { type: "string", default: "400" },
    rounds: { type: "string", default: "3" },
    callers: { type: "string", default: "8" },
  },
});
const [requests, rounds, callers] = [values.requests, values.rounds, values.callers].map(Number);
if (![requests, rounds, callers].every((value) => Number.isInteger(value) && value > 0)) {
  console.error("--requests, --rounds and --callers must be whole numbers above 0");
  process.exit(2);
}
/** Sizes as in docs/sizing.md: each question has four candidates of ten tokens. */
const SIZES = [
  { state: 20, questions: 1 },
  { state: 20, questions: 8 },
  { state: 160, questions: 1 },
];
const REST = { question: 12, candidate: 10, candidates: 4 };
const WARM_REQUESTS = 100;
/** A long deadline, so that nothing is refused on a busy machine. */
const PATIENT = ["--deadline-ms", "3600000"];

const service = await startService(new URL("../..", import.meta.url).pathname, [...PATIENT, ...positionals]);
const pool = new Pool(`http://127.0.0.1:${service.port}`, { connections: callers });
console.log(
  "| state | questions | service process, ms a request | both processes, ms |\n| --- | --- | --- | --- |",
);
for (const size of SIZES) {
  await send({ ...size, ...REST }, "warm", WARM_REQUESTS);
  const [own, both] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const before = [service.cpuSeconds, service.bothCpuSeconds];
    await send({ ...size, ...REST }, round, requests);
    own.push(((service.cpuSeconds - before[0]) * 1000) / requests);
    both.push(((service.bothCpuSeconds - before[1]) * 1000) / requests);
  }
  const shown = [own, both].map((all) => {
    const { median, min, max } = spreadOf(all);
    return `${median.toFixed(2)} (${min.toFixed(2)} .. ${max.toFixed(2)})`;
  });
  console.log(`| ${size.state} tokens | ${size.questions} | ${shown.join(" | ")} |`);
}
await pool.close();
await service.end();

/** Sends requests in a closed loop. */
async function send(size, name, count) {
  let next = 0;
  const caller = async () => {
    for (let index = next++; index < count; index = next++) {
      const { body } = sized(new Random(1, `${name}`, size.state, size.questions, index), size);
      const response = await pool.request({
        path: "questions" in JSON.parse(body) ? "/v1/systemone" : "/v1/rank",
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      const text = await response.body.text();
      assert.equal(response.statusCode, 200, text);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}
