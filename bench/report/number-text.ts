/** Formats a number with three significant digits and thousands separators. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

export function withUnit(value: number, unit: string): string {
  if (unit === "x") return `${numberText(value)}x`;
  return `${numberText(value)} ${unit}`;
}
