import type { BackendFacts, ForestScores, TokenTree } from "../../inference/ports.ts";
import type { ModelPackage } from "../../models/package/package.ts";

/** What a process has counted since it began, and the memory it takes. */
export interface RunnerCounters {
  readonly stateHits: number;
  readonly stateMisses: number;
  readonly residentBytes: number;
}

/** What has to be changed before a model can be loaded: the package, unless a process says otherwise, or what it runs on. */
export type Refusal = "INVALID_MODEL" | "INVALID_OPTION" | "BACKEND_FAILED";

/** What the service and its inference process say to each other. */
export type ToProcess =
  | {
      readonly type: "load";
      readonly modelPackage: ModelPackage;
      readonly threads: number;
      readonly stateCacheBytes: number;
      readonly hasVectors: boolean;
      /** Where ONNX Runtime is to compute. */
      readonly device?: string | undefined;
    }
  | { readonly type: "score"; readonly id: number; readonly forest: readonly TokenTree[] }
  | { readonly type: "ping" };

export type FromProcess =
  | { readonly type: "loaded"; readonly facts?: BackendFacts }
  | { readonly type: "refused"; readonly message: string; readonly reason?: Refusal }
  | ({ readonly type: "scored"; readonly id: number } & ForestScores & RunnerCounters)
  | { readonly type: "failed"; readonly id: number; readonly message: string }
  | ({ readonly type: "pong" } & RunnerCounters);
