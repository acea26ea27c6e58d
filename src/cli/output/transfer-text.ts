import type { PullProgress } from "../../hub/pull.ts";
import { bytesText } from "./model-text.ts";

/** No rate is shown before this time. Chosen: a rate over less time jumps. */
const SETTLED_MS = 1_000;

/**
 * The progress of a pull in one line.
 *
 * @param fetched bytes fetched by this pull
 * @param ms time since its start
 */
export function transferText({ file, bytes, totalBytes }: PullProgress, fetched: number, ms: number): string {
  const parts = [file];
  if (totalBytes === undefined) parts.push(bytesText(bytes));
  else {
    const percent = Math.floor((100 * bytes) / Math.max(1, totalBytes));
    parts.push(`${percent} %`, `${bytesText(bytes)} of ${bytesText(totalBytes)}`);
  }
  const perSecond = (1000 * fetched) / Math.max(1, ms);
  if (ms >= SETTLED_MS && perSecond >= 1) {
    parts.push(`${bytesText(Math.round(perSecond))}/s`);
    if (totalBytes !== undefined) parts.push(`${durationText((totalBytes - bytes) / perSecond)} left`);
  }
  return parts.join("  ");
}

function durationText(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
