import { ServiceError } from "../src/errors.ts";
import type { Manifest } from "../src/models/package/manifest.ts";
import type { BenchOptions, Part } from "./options.ts";

/** The architecture that baseline, roofline and profile support. */
const ENGINE_ARCHITECTURE = "bert-token-tree";

export interface MeasurableParts {
  readonly parts: readonly Part[];
  /** Reasons why requested parts are left out, one line each. */
  readonly notes: readonly string[];
}

/**
 * The requested parts that can be measured. Running servers have only the HTTP part. Models of another architecture than the
 * baseline's have no engine part.
 *
 * @throws ServiceError INVALID_OPTION if no part is left, or if a profile was requested
 */
export function measurableParts(
  { url, parts, isProfiled }: Pick<BenchOptions, "url" | "parts" | "isProfiled">,
  { id, architecture }: Pick<Manifest, "id" | "architecture">,
): MeasurableParts {
  if (url !== undefined) return { parts: ["http"], notes: [] };
  if (!parts.includes("engine") || architecture.type === ENGINE_ARCHITECTURE) return { parts, notes: [] };
  const others = parts.filter((part) => part !== "engine");
  const reason = `the engine part needs a model of architecture ${ENGINE_ARCHITECTURE}, and ${id} is ${architecture.type}`;
  if (others.length > 0 && !isProfiled) return { parts: others, notes: [`without engine: ${reason}`] };
  const profile = isProfiled ? ", and no --profile" : "";
  throw new ServiceError("INVALID_OPTION", `${reason}: use --part http --part memory${profile}.`);
}
