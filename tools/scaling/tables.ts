import { type Route, simulate } from "./fleet.ts";

/** Assumptions of the tables. */
export interface Assumptions {
  /** Price of a core-hour. */
  readonly price: number;
  readonly decisionsADay: number;
  /** Daily peak, relative to the mean. */
  readonly peak: number;
  /** Utilization of a core at the peak, from 0 to 1. */
  readonly use: number;
}

/**
 * The price is an example to scale from, not an offer. The rest is chosen; docs/sizing.md explains why a third stays
 * free.
 */
export const ASSUMPTIONS: Assumptions = { price: 0.04, decisionsADay: 1e9, peak: 2, use: 2 / 3 };

/** A row of docs/sizing.md for one processor. Rates in requests per second. */
interface Measured {
  readonly tokens: number;
  readonly questions: number;
  readonly newRate: number;
  readonly knownRate: number;
}

/** @param page docs/sizing.md */
export function measuredRates(page: string): readonly Measured[] {
  const rows = page.matchAll(/^\| 1 \| ([\d,]+) tokens \| (\d+) \| ([\d.]+) \| ([\d.]+) \|/gm);
  return [...rows].map(([, tokens = "", questions, newRate, knownRate]) => ({
    tokens: Number(tokens.replace(",", "")),
    questions: Number(questions),
    newRate: Number(newRate),
    knownRate: Number(knownRate),
  }));
}

const HIT_RATES = [0, 0.5, 0.9];
const SECONDS_A_DAY = 86_400;

/** The cost of a million decisions and the cores of a fleet, by cache hit rate. */
export function costTable(
  rows: readonly Measured[],
  { price, decisionsADay, peak, use }: Assumptions,
): string {
  const head = [
    "state, tokens",
    "questions",
    "states in a cache",
    "decisions/s a core",
    "core-hours per million",
    `cost per million at ${price} a core-hour`,
    `cores for ${decisionsADay.toExponential(0).replace("e+", "e")} a day`,
  ];
  const body = rows.flatMap(({ tokens, questions, newRate, knownRate }) =>
    HIT_RATES.map((hits) => {
      const rate = questions / ((1 - hits) / newRate + hits / knownRate);
      const hours = 1e6 / (rate * use) / 3600;
      const cores = (decisionsADay / SECONDS_A_DAY) * (peak / (rate * use));
      return [
        tokens.toLocaleString("en"),
        String(questions),
        percent(hits),
        rate.toPrecision(3),
        hours.toFixed(1),
        (hours * price).toFixed(2),
        Math.ceil(cores).toLocaleString("en"),
      ];
    }),
  );
  return table([head, ...body]);
}

const EXPONENTS = [0.8, 1, 1.2];
const REPLICAS = [1, 4, 20, 100];
/** States of 160 tokens, 18 KiB each, that fit into caches of 64 MiB and 1 GiB. */
const CACHES = [
  { name: "64 MiB", states: 22 },
  { name: "1 GiB", states: 364 },
];
const ROUTES: readonly Route[] = ["random", "hash", "bounded hash"];

/** Hit rates by the gateway's routing, from a seeded simulation. */
export function hitTable(): string {
  const head = [
    "exponent",
    "cache each",
    "replicas",
    ...ROUTES.map((route) => `hits, ${route}`),
    "busiest, hash",
    "busiest, bounded",
  ];
  const body = EXPONENTS.flatMap((exponent) =>
    CACHES.flatMap(({ name, states }) =>
      REPLICAS.map((replicas) => {
        const figures = ROUTES.map((route) => simulate({ replicas, cacheStates: states, exponent, route }));
        return [
          String(exponent),
          name,
          String(replicas),
          ...figures.map(({ hitRate }) => percent(hitRate)),
          ...figures.slice(1).map(({ busiest }) => `${busiest.toFixed(1)}x`),
        ];
      }),
    ),
  );
  return table([head, ...body]);
}

const percent = (share: number) => `${Math.round(100 * share)} %`;

function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
