import assert from "node:assert/strict";

/** The names of the metrics in a text, in order. */
export function familiesIn(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+) \S+$/gm)].map(([, name]) => name ?? "");
}

/** The value of one series. @param series its name, with its labels as they are written */
export function seriesValue(text: string, series: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  assert.ok(line !== undefined, `there is no ${series}`);
  return Number(line.slice(series.length + 1));
}
