/**
 * Measures the gain of `decision tune` on three public sets that the embedded model was not trained on, with 20, 100
 * and 500 rows.
 *
 *     node --import tsx scripts/measure/tuning.ts --data FOLDER --work FOLDER [--splits 20,10,3] [--plot
 * docs/tuning.svg]
 *
 * The first folder holds the extracted corpus (`train/surge_toxicity.jsonl`, `train/politeness.jsonl`,
 * `train/newsgroups20.jsonl`). The second caches scores, vectors and the figures of each split, which take minutes to
 * compute: empty it after a change of model or fit. Each split fits to some of the rows and measures on all others. The
 * output is the tables of docs/tuning.md: means over the splits with their 95 % intervals.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { type CollectedSet, collect } from "./tuning/collect.ts";
import { type Mean, type Panel, plot } from "./tuning/plot.ts";
import { readSets } from "./tuning/sets.ts";
import { type Split, split, WAYS, type Way } from "./tuning/splits.ts";

const COUNTS = [20, 100, 500];
/**
 * Half width of a 95 % interval in standard errors, by degrees of freedom (Student's t), for the usual numbers of
 * splits.
 */
const STUDENT: Readonly<Record<number, number>> = { 1: 12.71, 2: 4.303, 4: 2.776, 9: 2.262, 19: 2.093 };

const { values: flags } = parseArgs({
  options: {
    data: { type: "string" },
    work: { type: "string" },
    splits: { type: "string", default: "20,10,3" },
    plot: { type: "string" },
  },
});
if (flags.data === undefined || flags.work === undefined)
  throw new Error("--data (the corpus) and --work (a folder for computed results) are required");
await mkdir(flags.work, { recursive: true });

const work = flags.work;
const howMany = flags.splits.split(",").map(Number);
const panels: Panel[] = [];
console.log("| set | rows | | no correction | scale and bias | linear head | what `decision tune` writes |");
console.log("| --- | --- | --- | --- | --- | --- | --- |");
const promises: string[] = [];
for (const set of await readSets(flags.data)) {
  const collected = await collect(set, flags.work);
  const found: Split[][] = [];
  for (const [at, count] of COUNTS.entries())
    found.push(await splitsOf(collected, set.name, count, howMany[at] ?? 1));
  for (const [at, count] of COUNTS.entries()) {
    const splits = found[at] ?? [];
    const cells = (figure: "accuracy" | "calibration_error") =>
      WAYS.map((way) => shown(meanOf(splits, way, figure))).join(" | ");
    console.log(`| ${at === 0 ? set.name : ""} | ${count} | accuracy | ${cells("accuracy")} |`);
    console.log(`| | | calibration error | ${cells("calibration_error")} |`);
    promises.push(promiseLine(set.name, count, splits));
  }
  const series = (figure: "accuracy" | "calibration_error") =>
    Object.fromEntries(
      WAYS.map((way) => [way, found.map((splits) => meanOf(splits, way, figure))]),
    ) as unknown as Panel["accuracy"];
  panels.push({
    title: set.title,
    counts: COUNTS,
    accuracy: series("accuracy"),
    calibration: series("calibration_error"),
  });
}
console.log("\n| set | rows | writes scale / head / nothing | predicted accuracy | accuracy on other rows |");
console.log("| --- | --- | --- | --- | --- |");
console.log(promises.join("\n"));
if (flags.plot !== undefined) await writeFile(flags.plot, plot(panels));

/** Computes splits, or reads those that the folder already has. */
async function splitsOf(set: CollectedSet, name: string, count: number, wanted: number): Promise<Split[]> {
  const splits: Split[] = [];
  for (let seed = 1; seed <= wanted; seed++) {
    const file = path.join(work, `${name}.${count}.${seed}.json`);
    const kept = await readFile(file, "utf8").catch(() => undefined);
    const own: Split = kept === undefined ? split(set, count, seed) : JSON.parse(kept);
    if (kept === undefined) await writeFile(file, JSON.stringify(own));
    splits.push(own);
  }
  return splits;
}

function meanOf(splits: readonly Split[], way: Way, figure: "accuracy" | "calibration_error"): Mean {
  return mean(splits.map(({ figures }) => figures[way][figure]));
}

function promiseLine(name: string, count: number, splits: readonly Split[]): string {
  const written = (kind: Split["written"]) => splits.filter((one) => one.written === kind).length;
  const promised = mean(splits.map((one) => one.promised.accuracy));
  const kept = meanOf(splits, "tune", "accuracy");
  const kinds = `${written("scale")} / ${written("head")} / ${written("nothing")}`;
  return `| ${name} | ${count} | ${kinds} | ${shown(promised)} | ${shown(kept)} |`;
}

/** The mean with the half width of its 95 % interval. */
function mean(values: readonly number[]): Mean {
  const average = values.reduce((sum, one) => sum + one, 0) / values.length;
  const variance =
    values.reduce((sum, one) => sum + (one - average) ** 2, 0) / Math.max(1, values.length - 1);
  return { mean: average, half: (STUDENT[values.length - 1] ?? 1.96) * Math.sqrt(variance / values.length) };
}

function shown({ mean: average, half }: Mean): string {
  return `${(100 * average).toFixed(1)} ± ${(100 * half).toFixed(1)} %`;
}
