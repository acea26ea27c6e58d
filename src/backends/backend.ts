import type { Backend } from "../inference/ports.ts";
import type { ModelPackage } from "../models/package/package.ts";
import type { ChildBackendOptions } from "./process/child-backend.ts";

/** The options that say who computes; src/options/backends.ts has checked that they fit together. */
export interface BackendChoice {
  readonly backend: "onnx" | "native" | "remote";
  readonly device: string;
  readonly precision: string;
  readonly strict: boolean;
  /** Of the backend remote. */
  readonly remote?: RemoteChoice;
}

/** Where another server computes, by the names of the options. */
export interface RemoteChoice {
  readonly remoteUrl: string;
  readonly remoteModel: string;
  readonly remoteConnections: number;
  readonly remoteTimeoutMs: number;
  readonly remoteConnectTimeoutMs: number;
  readonly remoteCa: string;
  readonly remoteTokenFile: string;
  /** Used where no file is named. */
  readonly token: string | undefined;
}

/** What a backend is told once the model is known. */
export type BackendSettings = Omit<ChildBackendOptions, "startProcess" | "process">;

/** A backend whose start has begun before the model is known, because it takes longer than reading the package. */
export interface BegunBackend {
  /** To be called once. @throws ServiceError INVALID_OPTION for a package that it cannot serve */
  open(settings: BackendSettings): Backend;
  /** `precision` of /health for that package, where the backend does not say another one once it has started. */
  precisionOf(modelPackage: ModelPackage): string;
  /** Instead of `open`. */
  abandon(): void;
}
