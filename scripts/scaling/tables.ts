import { type Route, simulate } from "./fleet.ts";

/** What the tables assume. */
export interface Assumptions {
  /** Of a core-hour. */
  readonly price: number;
  readonly decisionsADay: number;
  /** Peak of the day, in means. */
  readonly peak: number;
  /** Share of a core that is used at the peak. */
  readonly use: number;
}

/** A price to multiply with, not an offer; the rest chosen. docs/sizing.md says why a third stays free. */
export const ASSUMPTIONS: Assumptions = { price: 0.04, decisionsADay: 1e9, peak: 2, use: 2 / 3 };

/** A row of docs/sizing.md for one processor. Rates in requests a second. */
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

/** What a million decisions cost, and the cores for a fleet, by the share of states that are in a cache. */
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
/** States that a cache holds: of 160 tokens at 18 KiB each, in 64 MiB and in 1 GiB. */
const CACHES = [
  { name: "64 MiB", states: 22 },
  { name: "1 GiB", states: 364 },
];
const ROUTES: readonly Route[] = ["random", "hash", "bounded hash"];

/** Hit rates by the gateway's choice, from a seeded simulation. */
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
