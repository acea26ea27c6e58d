import type { JsonNumber } from "../../json/value.ts";

/**
 * Formats a number as Python's `str` does: an integer with all digits, a number with a fraction or an exponent as the
 * shortest form that reads back (`repr`).
 *
 *     -0 -> 0        1E2 -> 100.0        1e16 -> 1e+16        0.00001 -> 1e-05        -0.0 -> -0.0
 *
 * @param number an integer of any length, or a float inside the float64 range
 * @see https://docs.python.org/3/library/functions.html#repr
 */
export function numberText(number: JsonNumber): string {
  const { text } = number;
  if (/[.eE]/.test(text)) return floatText(Number(text));
  return text === "-0" ? "0" : text;
}

/** Exponents of at least this, or below -4, are written with an `e`. (JavaScript's limits are 21 and -6.) */
const SCIENTIFIC_FROM = 16;

function floatText(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const sign = value < 0 ? "-" : "";
  // without an argument: the fewest digits that read back
  const [mantissa = "", power = ""] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const exponent = Number(power);
  return (
    sign +
    (exponent < -4 || exponent >= SCIENTIFIC_FROM
      ? scientific(mantissa, exponent)
      : positional(digits, exponent))
  );
}

function scientific(mantissa: string, exponent: number): string {
  const size = String(Math.abs(exponent)).padStart(2, "0");
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${size}`;
}

/** @param exponent power of ten of the first digit */
function positional(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${whole}.${digits.slice(exponent + 1) || "0"}`;
}
