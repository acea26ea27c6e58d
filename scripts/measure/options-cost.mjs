// Measures what options cost. Alternates between two services, and prints the ratios of their medians of requests per
// second and of processor time per request (both processes), which depends less on other load. Needs Linux. `npm run
// build && node scripts/measure/options-cost.mjs --a "--no-metrics" --b "" [--rounds 12] [--seconds 2] [--connections
// 8]`
//
// Each round measures both services, in alternating order, so that other load affects both alike. The range is the 95 %
// bootstrap interval of the ratio (2,000 samples of the rounds).
import { parseArgs } from "node:util";
import autocannon from "autocannon";
import { startService } from "./overload/service.mjs";

const { values: flags } = parseArgs({
  options: {
    a: { type: "string", default: "--no-metrics" },
    b: { type: "string", default: "" },
    rounds: { type: "string", default: "12" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "8" },
  },
});
const root = new URL("../..", import.meta.url).pathname;
const body = JSON.stringify({
  state: "My parcel never came. Where is it?",
  questions: { late: { type: "noul", instructions: "Is the parcel late?" } },
});

const services = {};
for (const name of ["a", "b"])
  services[name] = await startService(root, flags[name].split(" ").filter(Boolean));
const measures = ["rate", "cpuMs"];

async function round(name, duration) {
  const before = services[name].bothCpuSeconds;
  const { requests, non2xx, errors } = await autocannon({
    url: `http://127.0.0.1:${services[name].port}/v1/systemone`,
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    connections: Number(flags.connections),
    duration,
  });
  if (non2xx + errors > 0) throw new Error(`${name}: ${non2xx} answers are not 200, ${errors} errors`);
  const cpuMs = (1000 * (services[name].bothCpuSeconds - before)) / requests.total;
  return { rate: requests.total / duration, cpuMs };
}

const rounds = { a: [], b: [] };
for (const name of ["a", "b"]) await round(name, 1); // warm-up
for (let index = 0; index < Number(flags.rounds); index += 1) {
  const order = index % 2 === 0 ? ["a", "b"] : ["b", "a"];
  for (const name of order) rounds[name].push(await round(name, Number(flags.seconds)));
}
await Promise.all(Object.values(services).map((service) => service.end()));

const median = (values) => {
  const sorted = [...values].sort((one, other) => one - other);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};
const medianOf = (measure, name, picked = rounds[name].keys()) =>
  median([...picked].map((at) => rounds[name][at][measure]));
for (const name of ["a", "b"]) {
  const [rate, cpuMs] = measures.map((measure) => medianOf(measure, name));
  console.log(
    `${name}: ${flags[name] || "(defaults)"}  ${rate.toFixed(1)} requests/s, ${cpuMs.toFixed(3)} ms of processor time each`,
  );
}
for (const measure of measures) {
  const ratios = Array.from({ length: 2_000 }, () => {
    const picked = rounds.a.map(() => Math.floor(Math.random() * rounds.a.length));
    return medianOf(measure, "b", picked) / medianOf(measure, "a", picked);
  }).sort((one, other) => one - other);
  const at = (share) => ratios[Math.floor(share * (ratios.length - 1))].toFixed(4);
  const ratio = medianOf(measure, "b") / medianOf(measure, "a");
  const what = measure === "rate" ? "requests a second" : "processor time";
  console.log(`b / a, ${what}: ${ratio.toFixed(4)}, 95 % within ${at(0.025)} to ${at(0.975)}`);
}
