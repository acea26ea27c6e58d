// Tests killed processes and disconnecting clients under load, in a given number of rounds, against local services.
// `npm run build && node tools/deaths.mjs [--rounds 100] [--seed 1] [--only kills|stops|departures]
// [--control]`
//
//   kills       the inference process is killed: ready again within 2 s, every request gets its usual answer
//   stops       the service gets SIGTERM: every earlier request is answered, the exit code is 0
//   departures  1,000 clients disconnect: nothing is computed for them, the queue is empty (a twentieth of the rounds)
//
// The exit code is 1 if a bound is exceeded. With --control, each part does something that must exceed its bounds, in a
// tenth of the rounds, and the exit code is 1 if one of them holds.
import { parseArgs } from "node:util";
import { Random } from "../dist/bench/random.js";
import { describeCommit, describeMachine, describeVersions } from "../dist/bench/report/machine.js";
import { departures } from "./deaths/departures.mjs";
import { kills } from "./deaths/kills.mjs";
import { stops } from "./deaths/stops.mjs";
import { numberOf, refuse } from "./flags.mjs";

const PARTS = { kills, stops, departures };

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    control: { type: "boolean", default: false },
  },
});
const [rounds, seed] = ["rounds", "seed"].map((name) => numberOf(flags, name));
if (flags.only !== undefined && !(flags.only in PARTS))
  refuse(`--only: expected one of ${Object.keys(PARTS).join(", ")}, got ${JSON.stringify(flags.only)}.`);

const { cpu, usableProcessors } = describeMachine();
const versions = describeVersions();
console.log(
  `${cpu}, ${usableProcessors} processors; Node ${versions.node}, commit ${describeCommit() ?? "none"}, seed ${seed}`,
);
for (const [name, run] of Object.entries(PARTS)) {
  if (flags.only !== undefined && flags.only !== name) continue;
  const ofPart = Math.ceil(rounds / (name === "departures" ? 20 : 1) / (flags.control ? 10 : 1));
  const { figures, broken } = await run({
    rounds: ofPart,
    random: new Random(seed, name),
    isControl: flags.control,
  });
  console.log(`\n${name}${flags.control ? ", control" : ""}: ${ofPart} rounds`);
  for (const [what, figure] of Object.entries(figures)) console.log(`  ${what.padEnd(40)} ${figure}`);
  for (const bound of new Set(broken)) console.log(`  broken: ${bound}`);
  if (flags.control !== broken.length > 0) process.exitCode = 1;
}
console.log(process.exitCode === 1 ? "\nfailed" : "\npassed");
