import type { Backend } from "../inference/ports.ts";
import type { ModelPackage } from "../models/package/package.ts";
import type { ChildBackendOptions } from "./process/child-backend.ts";

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
export type BackendSettings = Omit<ChildBackendOptions, "startProcess" | "process">;

/** A backend that starts before the model is known, because starting takes longer than reading the package. */
export interface BegunBackend {
  /** Call once. @throws ServiceError INVALID_OPTION for a package that the backend cannot serve */
  open(settings: BackendSettings): Backend;
  /** `precision` in /health for that package, unless the started backend reports another one. */
  precisionOf(modelPackage: ModelPackage): string;
  /** Stops the backend. Call instead of `open`. */
  abandon(): void;
}
