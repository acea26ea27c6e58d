import { plainLine } from "./plain-text.ts";

/** Formats bytes with three digits and a decimal unit. */
export function bytesText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const at = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** at;
  return `${at === 0 ? value : value.toPrecision(value >= 999.5 ? 4 : 3)} ${units[at]}`;
}

/**
 * Formats rows as aligned columns, separated by two spaces. A cell is one line.
 *
 * @param align of the columns behind the first one
 * @returns lines
 */
export function alignedRows(cells: readonly (readonly string[])[], align: "left" | "right"): string[] {
  const rows = cells.map((row) => row.map(plainLine));
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  const padded = (cell: string, at: number) =>
    at > 0 && align === "right" ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0);
  return rows.map((row) => row.map(padded).join("  ").trimEnd());
}

/** Rows as columns that are aligned to the left. */
export function table(cells: readonly (readonly string[])[]): string {
  return alignedRows(cells, "left").join("\n");
}
