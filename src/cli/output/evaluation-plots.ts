import type { QuestionReport } from "../../evaluation/question-report.ts";
import type { Calibration } from "../../evaluation/statistics/calibration.ts";
import type { CoveragePoint } from "../../evaluation/statistics/coverage.ts";

const WIDTH = 400;
const HEIGHT = 280;
const EDGE = { left: 48, right: 12, top: 10, bottom: 40 };

/** Pixel positions of shares between 0 and 1. */
const x = (share: number) => (EDGE.left + share * (WIDTH - EDGE.left - EDGE.right)).toFixed(1);
const y = (share: number) => (HEIGHT - EDGE.bottom - share * (HEIGHT - EDGE.top - EDGE.bottom)).toFixed(1);

/** Accuracy against confidence: one dot per bin, larger for more rows. On the dashed line both are equal. */
export function reliabilityPlot({ bins, error }: Calibration): string {
  const most = Math.max(1, ...bins.map(({ rows }) => rows));
  const dots = bins
    .filter(({ rows }) => rows > 0)
    .map(({ rows, confidence = 0, accuracy = 0 }) => {
      const radius = (3 + 7 * Math.sqrt(rows / most)).toFixed(1);
      const title = `${rows} rows: confidence ${confidence.toFixed(3)}, right ${accuracy.toFixed(3)}`;
      return `<circle class="dot" cx="${x(confidence)}" cy="${y(accuracy)}" r="${radius}"><title>${title}</title></circle>`;
    });
  const ideal = `<path class="ideal" d="M${x(0)} ${y(0)}L${x(1)} ${y(1)}"/>`;
  const label = `Reliability plot, calibration error ${error.toFixed(3)}`;
  return picture(label, "mean confidence", "share right", ideal + dots.join(""));
}

/** Accuracy against coverage, with its confidence interval. The dashed line is the target. */
export function coveragePlot({ curve, target, chosen }: QuestionReport): string {
  const place = (share: (point: CoveragePoint) => number) => (point: CoveragePoint) =>
    `${x(point.coverage)} ${y(share(point))}`;
  const highs = curve.map(place(({ accuracy }) => accuracy.high));
  const lows = curve.map(place(({ accuracy }) => accuracy.low)).reverse();
  const line = curve.map(place(({ accuracy }) => accuracy.share));
  const dot =
    chosen === undefined
      ? ""
      : `<circle class="dot" cx="${x(chosen.coverage)}" cy="${y(chosen.accuracy.share)}" r="5"><title>confidence at least ${chosen.threshold}</title></circle>`;
  const body = [
    `<path class="band" d="M${[...highs, ...lows].join("L")}Z"/>`,
    `<path class="ideal" d="M${x(0)} ${y(target)}L${x(1)} ${y(target)}"/>`,
    `<path class="curve" d="M${line.join("L")}"/>`,
    dot,
  ];
  return picture("Accuracy against coverage", "share of rows kept", "share right", body.join(""));
}

function picture(label: string, across: string, up: string, body: string): string {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<path class="axis" d="M${x(0)} ${y(share)}H${x(1)}"/>` +
      `<text x="${EDGE.left - 6}" y="${y(share)}" text-anchor="end" dominant-baseline="middle">${share}</text>` +
      `<text x="${x(share)}" y="${HEIGHT - EDGE.bottom + 16}" text-anchor="middle">${share}</text>`,
  );
  const middle = HEIGHT / 2 - EDGE.bottom / 2;
  return `<svg role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}">${ticks.join("")}${body}<text x="${x(0.5)}" y="${HEIGHT - 6}" text-anchor="middle">${across}</text><text x="12" y="${middle}" text-anchor="middle" transform="rotate(-90 12 ${middle})">${up}</text></svg>`;
}
