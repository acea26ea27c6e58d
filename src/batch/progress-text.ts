/** The progress of a batch. */
export interface Progress {
  /** Rows of this run, and how many of them have an error. */
  readonly rows: number;
  readonly errors: number;
  /** Processed bytes of the input, by this run and in total. */
  readonly bytes: number;
  readonly endByte: number;
  /** Size of the input; undefined if unknown, as for a pipe. */
  readonly totalBytes: number | undefined;
  /** Duration of this run. */
  readonly ms: number;
}

/** No rate is shown before this time. Chosen: a rate over less time jumps. */
const SETTLED_MS = 1_000;
const BAR_CELLS = 20;

/** The progress in one line: `42 %  1200 rows  210 rows/s  3 min left  2 errors`. */
export function progressText({ rows, errors, bytes, endByte, totalBytes, ms }: Progress): string {
  const parts: string[] = [];
  const share = totalBytes === undefined ? undefined : Math.min(1, endByte / Math.max(1, totalBytes));
  if (share !== undefined) parts.push(`${Math.floor(100 * share)} %`);
  parts.push(counted(rows, "row"));
  if (ms >= SETTLED_MS && rows > 0) {
    parts.push(`${rateText((1000 * rows) / ms)} rows/s`);
    if (totalBytes !== undefined && bytes > 0)
      parts.push(`${durationText(((totalBytes - endByte) * ms) / bytes / 1000)} left`);
  }
  if (errors > 0) parts.push(counted(errors, "error"));
  return parts.join("  ");
}

/** The progress after a bar, if the total is known. */
export function barText(progress: Progress): string {
  const { endByte, totalBytes } = progress;
  if (totalBytes === undefined) return progressText(progress);
  const cells = Math.floor((BAR_CELLS * Math.min(endByte, totalBytes)) / Math.max(1, totalBytes));
  return `[${"#".repeat(cells).padEnd(BAR_CELLS, ".")}] ${progressText(progress)}`;
}

/** "1 row", "2 rows". */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** A rate with two significant digits, or as a whole number from 100 on. */
export const rateText = (rate: number) => (rate >= 100 ? rate.toFixed(0) : rate.toPrecision(2));

/** A duration in its largest unit. */
export function durationText(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
