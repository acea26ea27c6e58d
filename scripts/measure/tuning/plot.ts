import type { Way } from "./splits.ts";

/** Mean over the splits, and half of its 95 % interval. */
export interface Mean {
  readonly mean: number;
  readonly half: number;
}

export interface Panel {
  readonly title: string;
  readonly counts: readonly number[]; // [points] rows to fit
  readonly accuracy: Readonly<Record<Way, readonly Mean[]>>;
  readonly calibration: Readonly<Record<Way, readonly Mean[]>>;
}

const LINES: readonly { readonly way: Way; readonly name: string; readonly colour: string }[] = [
  { way: "none", name: "as it is", colour: "#777777" },
  { way: "scale", name: "scale and bias", colour: "#d55e00" },
  { way: "head", name: "linear head", colour: "#0072b2" },
  { way: "tune", name: "what decision tune writes", colour: "#009e73" },
];
const WIDTH = 250;
const HEIGHT = 170;
const GAP = { x: 46, y: 58, top: 44, left: 50, bottom: 64 };

/** Panels side by side: accuracy above, calibration error below. */
export function plot(panels: readonly Panel[]): string {
  const width = GAP.left + panels.length * (WIDTH + GAP.x);
  const height = GAP.top + 2 * HEIGHT + GAP.y + GAP.bottom;
  const parts = panels.flatMap((panel, at) => {
    const left = GAP.left + at * (WIDTH + GAP.x);
    const lower = GAP.top + HEIGHT + GAP.y;
    return [
      text(left + WIDTH / 2, 18, panel.title, 'font-weight="bold" text-anchor="middle"'),
      chart(panel.counts, panel.accuracy, "accuracy", left, GAP.top),
      chart(panel.counts, panel.calibration, "calibration error", left, lower),
      text(left + WIDTH / 2, lower + HEIGHT + 32, "labelled rows", 'text-anchor="middle"'),
    ];
  });
  const legend = LINES.map(({ name, colour }, at) => {
    const x = GAP.left + at * 190;
    return `<path d="M${x} ${height - 12}h24" stroke="${colour}" stroke-width="3"/>${text(x + 30, height - 8, name)}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12" role="img" aria-label="Accuracy and calibration error against the number of labelled rows">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...parts,
    ...legend,
    "</svg>\n",
  ].join("\n");
}

function chart(
  counts: readonly number[],
  series: Panel["accuracy"],
  label: string,
  left: number,
  top: number,
): string {
  const all = LINES.flatMap(({ way }) => series[way]);
  const [low, high] = bounds(all);
  const x = (at: number) => left + 20 + (at * (WIDTH - 40)) / Math.max(1, counts.length - 1);
  const y = (value: number) => top + HEIGHT - ((value - low) / (high - low)) * HEIGHT;
  const step = (high - low) / 4;
  const ticks = [0, 1, 2, 3, 4].map((at) => {
    const value = low + at * step;
    return `<path d="M${left} ${y(value).toFixed(1)}h${WIDTH}" stroke="#dddddd"/>${text(left - 6, y(value) + 4, `${(100 * value).toFixed(0)} %`, 'text-anchor="end"')}`;
  });
  const marks = counts.map((count, at) =>
    text(x(at), top + HEIGHT + 16, String(count), 'text-anchor="middle"'),
  );
  const lines = LINES.map(({ way, colour }, number) => {
    const shift = 3 * (number - (LINES.length - 1) / 2); // shifted, so that intervals do not overlap
    const points = series[way].map(({ mean }, at) => `${(x(at) + shift).toFixed(1)} ${y(mean).toFixed(1)}`);
    const bars = series[way].map(
      ({ mean, half }, at) =>
        `<path d="M${(x(at) + shift).toFixed(1)} ${y(Math.max(low, mean - half)).toFixed(1)}V${y(mean + half).toFixed(1)}" stroke="${colour}"/>`,
    );
    const dashes = way === "none" ? ' stroke-dasharray="5 4"' : "";
    return `<path d="M${points.join("L")}" fill="none" stroke="${colour}" stroke-width="2"${dashes}/>${bars.join("")}`;
  });
  return [text(left, top - 8, label), ...ticks, ...marks, ...lines].join("\n");
}

/** A range of whole steps of 4 % around all values. */
function bounds(all: readonly Mean[]): readonly [number, number] {
  const STEP = 0.04;
  const low = Math.floor(Math.min(...all.map(({ mean, half }) => mean - half)) / STEP) * STEP;
  const high = Math.ceil(Math.max(...all.map(({ mean, half }) => mean + half)) / STEP) * STEP;
  return [Math.max(0, low), high];
}

function text(x: number, y: number, content: string, attributes = ""): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="#222222" ${attributes}>${content}</text>`;
}
