// Prints the tables of docs/scaling.md: `node --import tsx tools/scaling/print.ts [--price 0.04] [--decisions 1e9] [--peak 2]`.
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { ASSUMPTIONS, costTable, hitTable, measuredRates } from "./tables.ts";

const { values } = parseArgs({
  options: { price: { type: "string" }, decisions: { type: "string" }, peak: { type: "string" } },
});
const number = (name: keyof typeof values, usual: number) => {
  const value = values[name] === undefined ? usual : Number(values[name]);
  if (value > 0 && Number.isFinite(value)) return value;
  console.error(`--${name} takes a number above 0, not ${JSON.stringify(values[name])}.`);
  process.exit(2);
};
const assumptions = {
  ...ASSUMPTIONS,
  price: number("price", ASSUMPTIONS.price),
  decisionsADay: number("decisions", ASSUMPTIONS.decisionsADay),
  peak: number("peak", ASSUMPTIONS.peak),
};
const sizing = await readFile(new URL("../../docs/sizing.md", import.meta.url), "utf8");
console.log(`${costTable(measuredRates(sizing), assumptions)}\n\n${hitTable()}`);
