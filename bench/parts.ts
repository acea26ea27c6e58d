import { ServiceError } from "../src/errors.ts";
import type { Manifest } from "../src/models/package/manifest.ts";
import type { BenchOptions, Part } from "./options.ts";

/** What the baseline is written in, and the roof and the profile read. */
const ENGINE_ARCHITECTURE = "bert-token-tree";

export interface MeasurableParts {
  readonly parts: readonly Part[];
  /** Why something that was asked for is not among them, a line each. */
  readonly notes: readonly string[];
}

/**
 * The parts that can be measured, of those that were asked for: of servers that run already only HTTP, of a model of
 * another architecture than the baseline's all but the engine.
 *
 * @throws ServiceError INVALID_OPTION where nothing else was asked for, or a profile
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
