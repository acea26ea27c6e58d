import { readFile } from "node:fs/promises";
import path from "node:path";
import { type ModelPackage, openModelPackage } from "../../src/models/package/package.ts";
import { packageRoot } from "../../src/package-root.ts";
import type { TokenTree } from "./trees.ts";

/** Small random packages of the causal architecture, see test/golden/gemma3/make.py. */
export const GEMMA3_PACKAGES = [
  "all-sliding",
  "five-to-one",
  "all-full",
  "alternate",
  "wide-window",
  "small-270m",
] as const;

/** Of the reference library's float32 scores. */
export const GEMMA3_TOLERANCE = 1e-4;

export interface GoldenDecision {
  readonly token_ids: readonly (readonly number[])[];
  readonly scores: readonly number[];
}

export function gemma3Folder(name: string): string {
  return path.join(packageRoot, "test", "golden", "gemma3", name);
}

export async function gemma3Package(
  name: string,
): Promise<{ modelPackage: ModelPackage; decisions: readonly GoldenDecision[] }> {
  const folder = gemma3Folder(name);
  const { decisions } = JSON.parse(await readFile(path.join(folder, "golden.json"), "utf8"));
  return { modelPackage: await openModelPackage(folder), decisions };
}

/** A pair's tokens cut into state, question and candidate. */
export function pairTree(ids: readonly number[], stateEnd: number, questionEnd: number): TokenTree {
  const cut = (begin: number, end?: number) => Int32Array.from(ids.slice(begin, end));
  return {
    state: cut(0, stateEnd),
    questions: [{ tokens: cut(stateEnd, questionEnd), candidates: [cut(questionEnd)] }],
  };
}
