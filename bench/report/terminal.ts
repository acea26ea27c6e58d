import { isReached, type Measurement } from "../measure/measurement.ts";
import { numberText, withUnit } from "./number-text.ts";
import type { Report } from "./report.ts";

/** A table for a terminal: the first column left, the others right. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  return [line(head), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join("\n");
}

export function measurementRows(measurements: readonly Measurement[]): string[][] {
  return measurements.map((figure) => {
    const { name, title, value, spread, unit, target } = figure;
    const isPart = name.split(".").length > 2;
    const reached = isReached(figure);
    return [
      isPart ? `  ${title}` : title,
      withUnit(value, unit),
      `${numberText(spread.q1)} .. ${numberText(spread.q3)}`,
      String(spread.count),
      target === undefined ? "" : `${withUnit(target, unit)}${reached ? "" : " (not reached)"}`,
    ];
  });
}

/** The whole report for a terminal. */
export function reportText(report: Report): string {
  const { machine, versions, commit, model, seed, engine } = report;
  const parts = [
    [
      `machine  ${machine.cpu}, ${machine.usableProcessors} of ${machine.processors} processors, ${numberText(machine.memoryBytes / 2 ** 30)} GiB`,
      `         ${machine.flags.join(" ")}`,
      `versions package ${versions.package}, node ${versions.node}, onnxruntime ${versions.onnxruntime}, commit ${commit ?? "-"}`,
      `model    ${model?.id ?? "-"}`,
      `run      ${report.options.effort}, seed ${seed}, ${numberText(report.seconds)} s`,
    ].join("\n"),
  ];
  if (engine) {
    parts.push(
      `Engine in ${engine.precision} with ${engine.threads} threads; scores differ from the baseline's by ${engine.largestDifference.toExponential(1)} at most`,
      tableText(["figure", "median", "quartiles", "rounds", "to reach"], measurementRows(engine.figures)),
    );
  }
  return parts.join("\n\n");
}
