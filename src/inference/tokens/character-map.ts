/**
 * A character map of SentencePiece, as `precompiled_charsmap` of a tokenizer.json has it: a trie in a double array, and the texts
 * that it maps to.
 *
 *     bytes 0..3      size of the trie in bytes, little-endian
 *     trie            units of 32 bits: label, offset of the children, whether a value follows
 *     texts           UTF-8, each ends with a zero byte; a value is the offset of its text
 *
 * The library `tokenizers` follows these numbers without looking, and ends the process if one leads out of the array. So a map
 * is walked once here before the library gets it.
 *
 * @see https://github.com/s-yata/darts-clone, https://github.com/google/sentencepiece (normalizer.cc)
 */
export function characterMapFault(base64: string): string | undefined {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length < 4) return "is too short";
  const size = bytes.readUInt32LE(0);
  if (size % 4 !== 0 || size === 0 || size > bytes.length - 4) return "states a wrong size of its table";
  const units = new Uint32Array(size / 4);
  for (let at = 0; at < units.length; at++) units[at] = bytes.readUInt32LE(4 + 4 * at);
  const texts = bytes.subarray(4 + size);
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(texts);
  } catch {
    return "maps to texts that are not UTF-8";
  }
  return walk(units, texts) ? undefined : "leads out of its table";
}

const offsetOf = (unit: number) => (unit >>> 10) << ((unit & (1 << 9)) >>> 6);
const hasValue = (unit: number) => ((unit >>> 8) & 1) === 1;
/** A unit with a value has its highest bit set, so that no byte is its label. */
const labelOf = (unit: number) => (unit & ((1 << 31) | 0xff)) >>> 0;
const valueOfUnit = (unit: number) => (unit & 0x7fffffff) >>> 0;

/** Whether every path from the root stays within the units, and every value within the texts. */
function walk(units: Uint32Array, texts: Uint8Array): boolean {
  const seen = new Set<number>();
  const bases = [offsetOf(units[0] ?? 0)];
  for (let base = bases.pop(); base !== undefined; base = bases.pop()) {
    if (seen.has(base)) continue;
    seen.add(base);
    // the children of a node are at base ^ byte, whatever the byte of the text is
    if ((base | 0xff) >>> 0 >= units.length) return false;
    for (let byte = 1; byte <= 0xff; byte++) {
      const unit = units[base ^ byte] ?? 0;
      if (labelOf(unit) !== byte) continue;
      const next = (base ^ byte ^ offsetOf(unit)) >>> 0;
      if (hasValue(unit) && !isText(valueOfUnit(units[next] ?? 0x7fffffff), texts)) return false;
      bases.push(next);
    }
  }
  return true;
}

/** Whether a text begins there, not in the middle of a character. */
function isText(offset: number, texts: Uint8Array): boolean {
  if (offset > texts.length) return false;
  const byte = texts[offset];
  return byte === undefined || (byte & 0xc0) !== 0x80;
}
