import { createHash } from "node:crypto";
import type { RenderedQuestion } from "../decisions/request.ts";

/**
 * Digest of what the model is asked: form, instructions, labels and descriptions as rendered. The order of the labels
 * does not matter, as it does not to the model; a score's labels are its levels.
 *
 * @returns 32 hex digits
 */
export function questionDigest({ form, question, candidates }: RenderedQuestion): string {
  const sorted = [...candidates].sort((a, b) => compareTexts(a.label, b.label));
  const content = [form ?? null, question.text, sorted.map(({ label, text }) => [label, text])];
  return createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 32);
}

/** By code units, the same on every system. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
