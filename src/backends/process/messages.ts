import type { BackendFacts, BatchScores } from "../../inference/backend.ts";
import type { NodeList } from "../../inference/nodes.ts";
import type { ModelPackage } from "../../models/package/package.ts";

/** Counters of a process since its start, and its memory. */
export interface RunnerCounters {
  readonly stateHits: number;
  readonly stateMisses: number;
  readonly residentBytes: number;
}

/** Why a model cannot be loaded: the package (default), an option, or the environment. */
export type Refusal = "INVALID_MODEL" | "INVALID_OPTION" | "BACKEND_FAILED";

/** Messages from the service to its inference process. */
export type ToProcess =
  | {
      readonly type: "load";
      readonly modelPackage: ModelPackage;
      readonly threads: number;
      readonly stateCacheBytes: number;
      readonly hasVectors: boolean;
      /** Device of ONNX Runtime. */
      readonly device?: string | undefined;
    }
  | {
      readonly type: "score";
      readonly id: number;
      readonly nodes: NodeList;
      /** Whether the process has no other batch. */
      readonly isAlone: boolean;
    }
  | { readonly type: "ping" };

export type FromProcess =
  | {
      readonly type: "loaded";
      readonly facts?: BackendFacts;
    }
  | { readonly type: "refused"; readonly message: string; readonly reason?: Refusal }
  | ({ readonly type: "scored"; readonly id: number } & BatchScores & RunnerCounters)
  | { readonly type: "failed"; readonly id: number; readonly message: string }
  | ({ readonly type: "pong" } & RunnerCounters);
