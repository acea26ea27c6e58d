import type { Issue } from "../errors.ts";

/** The names of the served model. */
export interface ModelNames {
  readonly id: string;
  /** Every other name that requests may use. */
  readonly aliases: readonly string[];
}

/** Checks a request's `model`: it may be missing, or name the served model. */
export function checkModelName(model: unknown, names: ModelNames): Issue | undefined {
  if (model === undefined || model === names.id) return undefined;
  if (typeof model === "string" && names.aliases.includes(model)) return undefined;
  const msg =
    "Expected the served model's id, one of its aliases (see /v1/models) or no `model`, got another name.";
  return { loc: ["body", "model"], msg, type: "unsupported_model" };
}
