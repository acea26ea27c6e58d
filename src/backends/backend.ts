import type { Backend } from "../inference/backend.ts";
import type { Clock } from "../inference/clock.ts";
import type { ModelPackage } from "../models/package/package.ts";

/** The options that choose the backend. src/options/backends.ts has checked them, also in combination. */
export interface BackendChoice {
  readonly backend: "onnx" | "native" | "remote";
  readonly device: string;
  readonly precision: string;
  readonly strict: boolean;
  /** Settings of the backend `remote`; undefined for the others. */
  readonly remote?: RemoteChoice;
}

/** The options of the backend `remote`. */
export interface RemoteChoice {
  readonly remoteUrl: string;
  readonly remoteModel: string;
  readonly remoteConnections: number;
  readonly remoteTimeoutMs: number;
  readonly remoteConnectTimeoutMs: number;
  readonly remoteCa: string;
  readonly remoteTokenFile: string;
  /** Bearer token, used if `remoteTokenFile` is empty. */
  readonly token: string | undefined;
}

/** The settings that a backend gets once the model is known. */
export interface BackendSettings {
  /** A backend checks the files against this manifest each time it loads them. */
  readonly modelPackage: ModelPackage;
  /** Number of compute threads. */
  readonly threads: number;
  readonly stateCacheBytes: number;
  /** Whether to return vectors in addition to scores. Default: false. */
  readonly hasVectors?: boolean;
  /** A device of ONNX Runtime that `chooseDevice` has tried. Default: the CPU. */
  readonly device?: string | undefined;
  /** Time limit for loading the model. */
  readonly loadMs: number;
  /** Time limit of any run. A process that exceeds it counts as hung and is killed. */
  readonly hangMs: number;
  readonly clock: Clock;
  readonly log: (event: string, details: Record<string, unknown>) => void;
}

/** A backend that starts before the model is known, because starting takes longer than reading the package. */
export interface BegunBackend {
  /** Call once. @throws ServiceError INVALID_OPTION for a package that the backend cannot serve */
  open(settings: BackendSettings): Backend;
  /** `precision` in /health for that package, unless the started backend reports another one. */
  precisionOf(modelPackage: ModelPackage): string;
  /** Stops the backend. Call instead of `open`. */
  abandon(): void;
}
