import { isRight, type Judged } from "./judged.ts";

/** The usual number of bins, each 0.1 wide. */
const BINS = 10;

/** Rows with a confidence between `from` and `to`. */
export interface CalibrationBin {
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  /** Means over these rows; undefined without rows. */
  readonly confidence: number | undefined;
  readonly accuracy: number | undefined;
}

export interface Calibration {
  /**
   * Expected calibration error: mean absolute difference between accuracy and confidence over the bins, weighted by
   * rows.
   */
  readonly error: number;
  readonly bins: readonly CalibrationBin[];
}

/** Reliability bins and expected calibration error. @see Guo et al. 2017, On Calibration of Modern Neural Networks */
export function calibration(rows: readonly Judged[]): Calibration {
  const bins = Array.from({ length: BINS }, (_, at): CalibrationBin => {
    const inside = rows.filter(({ confidence }) => Math.min(BINS - 1, Math.floor(confidence * BINS)) === at);
    return {
      from: at / BINS,
      to: (at + 1) / BINS,
      rows: inside.length,
      confidence: mean(inside.map(({ confidence }) => confidence)),
      accuracy: mean(inside.map((row) => (isRight(row) ? 1 : 0))),
    };
  });
  const distances = bins.map((bin) => bin.rows * Math.abs((bin.accuracy ?? 0) - (bin.confidence ?? 0)));
  return { error: rows.length === 0 ? 0 : distances.reduce((sum, one) => sum + one, 0) / rows.length, bins };
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
