import type { TokenTree } from "../../../inference/ports.ts";
import type { Precision } from "../../../models/architectures/architecture.ts";
import { type ModelPackage, readPackageFile } from "../../../models/package/package.ts";
import type { Runner } from "../forwards/model-runner.ts";

/** Pairs and their expected scores. */
export interface Reference {
  readonly forest: readonly TokenTree[];
  readonly scores: readonly number[];
}

const GOLDEN = "golden.json";
/** Maximum number of decisions taken from a package. Chosen: each takes one forward of a few tokens. */
const DECISIONS = 8;

/**
 * Reference scores for a device's trial: in float32, those of another implementation if the package contains them
 * (golden.json); otherwise the CPU's scores of a few short pairs.
 *
 * @param onCpu loads the same graph on the CPU
 */
export async function referenceScores(
  modelPackage: ModelPackage,
  precision: Precision,
  onCpu: () => Promise<Runner>,
): Promise<Reference> {
  const { architecture, files } = modelPackage.manifest;
  if (architecture.type === "bert-token-tree" && precision === "fp32" && GOLDEN in files) {
    const text = new TextDecoder().decode(await readPackageFile(modelPackage, GOLDEN));
    const golden = goldenScores(JSON.parse(text));
    if (golden !== undefined) return golden;
  }
  const { scores } = await (await onCpu()).score(SMALL_FOREST);
  return { forest: SMALL_FOREST, scores: [...scores] };
}

/** Reads golden.json as `training/export.py` writes it. @returns undefined for any other layout */
export function goldenScores(golden: unknown): Reference | undefined {
  try {
    const { decisions } = golden as { decisions: GoldenDecision[] };
    const used = decisions.slice(0, DECISIONS);
    const forest = used.map(({ token_ids: { state, question, candidates } }) => ({
      state: Int32Array.from(state),
      questions: [
        { tokens: Int32Array.from(question), candidates: candidates.map((ids) => Int32Array.from(ids)) },
      ],
    }));
    return { forest, scores: used.flatMap(({ scores }) => scores) };
  } catch {
    return undefined;
  }
}

interface GoldenDecision {
  readonly token_ids: { state: number[]; question: number[]; candidates: number[][] };
  readonly scores: number[];
}

/** Ids that every vocabulary has. The longest pair has 7 tokens. */
const ids = (...numbers: number[]) => Int32Array.from(numbers);
const SMALL_FOREST: readonly TokenTree[] = [
  { state: ids(1, 2, 3, 4), questions: [{ tokens: ids(5), candidates: [ids(6), ids(7, 3)] }] },
  { state: ids(2), questions: [{ tokens: ids(4, 1), candidates: [ids(3), ids(5, 6, 7), ids(1)] }] },
];

/** The largest absolute difference. NaN if a score is missing or not a number. */
export function largestDifference(wanted: readonly number[], got: Float32Array): number {
  if (wanted.length !== got.length) return Number.NaN;
  return wanted.reduce(
    (largest, score, at) => Math.max(largest, Math.abs(score - (got[at] ?? Number.NaN))),
    0,
  );
}
