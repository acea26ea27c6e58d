import type { BatchScores } from "../../src/inference/backend.ts";
import type { NodeList } from "../../src/inference/nodes.ts";
import type { ModelPackage } from "../../src/models/package/package.ts";

/** Tasks of the bench's child processes with their inputs. Everything here can be sent between processes. */
export interface Tasks {
  /** Loads the baseline. */
  loadPairs: { input: { modelPackage: ModelPackage; threads: number }; output: undefined };
  /** Scores pair by pair, `batch` pairs per run. */
  scorePairs: { input: { nodes: NodeList; batch: number }; output: BatchScores };
}

export type TaskName = keyof Tasks;

export interface TaskCall<Name extends TaskName = TaskName> {
  readonly id: number;
  readonly task: Name;
  readonly input: Tasks[Name]["input"];
}

export type TaskReply =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly error: string };
