import { beginNative } from "../../src/backends/native/begin-native.ts";
import type { Backend } from "../../src/inference/backend.ts";
import { systemClock } from "../../src/inference/clock.ts";
import type { ModelPackage } from "../../src/models/package/package.ts";

export interface NativeOptions {
  readonly device?: string;
  readonly precision?: string;
  readonly strict?: boolean;
  readonly stateCacheBytes?: number;
  readonly hasVectors?: boolean;
}

/** What DECISION_TEST_DEVICE says, so that the same tests run on a GPU. */
export const testedDevice = process.env.DECISION_TEST_DEVICE || "cpu";

/** The backend native with that package; not started. */
export function nativeWith(modelPackage: ModelPackage, options: NativeOptions = {}): Backend {
  const { device = testedDevice, precision = "fp32", strict = false } = options;
  const { stateCacheBytes = 0, hasVectors = false } = options;
  return beginNative({ backend: "native", device, precision, strict }).open({
    modelPackage,
    threads: 2,
    stateCacheBytes,
    hasVectors,
    loadMs: 300_000,
    hangMs: 300_000,
    clock: systemClock,
    log: () => {},
  });
}
