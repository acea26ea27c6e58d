import { isUtf8 } from "node:buffer";

/**
 * The text of a file, without a byte order mark. Other encodings are refused: decoding them would replace letters in
 * silence.
 *
 * @param fail the error for a fault, which is the end of a sentence about the file
 */
export function utf8Text(bytes: Uint8Array, fail: (fault: string) => Error): string {
  const fault = encodingFault(bytes);
  if (fault !== undefined) throw fail(fault);
  return new TextDecoder().decode(bytes);
}

/** Why these bytes are no UTF-8, as the end of a sentence; undefined if they are. */
export function encodingFault(bytes: Uint8Array): string | undefined {
  if (isUtf16(bytes)) return UTF16_FAULT;
  return isUtf8(bytes)
    ? undefined
    : `has bytes that are not UTF-8 (first in line ${badLine(bytes)}): save it as UTF-8`;
}

export const UTF16_FAULT = "is UTF-16: save it as UTF-8";

/** Whether a file begins as UTF-16 texts do: with a byte order mark, or with a zero byte beside the first character. */
export function isUtf16([first, second]: Iterable<number>): boolean {
  if (first === undefined || second === undefined) return false;
  return (
    (first === 0xff && second === 0xfe) ||
    (first === 0xfe && second === 0xff) ||
    (first === 0) !== (second === 0)
  );
}

/** The number of the first line that is not UTF-8. No character of UTF-8 holds the byte of a line feed. */
function badLine(bytes: Uint8Array): number {
  let line = 1;
  for (let begin = 0; begin < bytes.length; line += 1) {
    const found = bytes.indexOf(0x0a, begin);
    const end = found < 0 ? bytes.length : found;
    if (!isUtf8(bytes.subarray(begin, end))) return line;
    begin = end + 1;
  }
  return line;
}
