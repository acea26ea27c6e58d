// What every measurement has: flags, a line about the machine, figures, and bounds that set the exit code.
import { parseArgs } from "node:util";
import { describeCommit, describeMachine, describeVersions } from "../dist/bench/report/machine.js";

/**
 * Reads the command line. A flag whose default is a number must be a number from 0. Ends the process with 2 if one is
 * wrong.
 *
 * @param defaults of every flag; `undefined` if it may be left out
 * @returns the flags' values, and `rest`, the arguments after `--`
 */
export function readFlags(defaults) {
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: "string" }]));
  const { values, positionals: rest } = parseArgs({ allowPositionals: true, options });
  const flags = { ...defaults, rest };
  for (const [name, text] of Object.entries(values)) {
    flags[name] = typeof defaults[name] === "number" ? Number(text) : text;
    if (Number.isNaN(flags[name]) || flags[name] < 0) {
      console.error(`--${name}: expected a number from 0, got ${JSON.stringify(text)}.`);
      process.exit(2);
    }
  }
  return flags;
}

/** Runs the stage that a flag names, or all of them. @param stages functions by name */
export async function runStages(stages, only) {
  if (only !== undefined && !Object.hasOwn(stages, only)) {
    console.error(`--only: expected one of ${Object.keys(stages).join(", ")}, got ${JSON.stringify(only)}.`);
    process.exit(2);
  }
  const { cpu, usableProcessors } = describeMachine();
  const versions = describeVersions();
  const commit = describeCommit() ?? "none";
  console.log(
    `${cpu}, ${usableProcessors} processors; package ${versions.package}, Node ${versions.node}, commit ${commit}`,
  );
  for (const [name, stage] of Object.entries(stages)) {
    if (only !== undefined && only !== name) continue;
    console.log(`\n${name}`);
    await stage();
  }
  console.log(process.exitCode === 1 ? "\na bound is broken" : "\nall bounds hold");
}

export function show(what, figure) {
  console.log(`         ${what}: ${figure}`);
}

/** Shows a figure. If it is above the bound, the process will exit with 1. @param shown the figure with its unit */
export function hold(what, figure, bound, shown = String(figure)) {
  const holds = figure <= bound;
  if (!holds) process.exitCode = 1;
  console.log(`  ${holds ? "ok    " : "BROKEN"} ${what}, at most ${bound}: ${shown}`);
}
