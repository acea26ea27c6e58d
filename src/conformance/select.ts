import type { Check } from "./check.ts";
import type { Profile } from "./clause.ts";
import { WrongUsage } from "./target.ts";

export interface Selection {
  readonly profile: Profile;
  /** Ids, their beginnings, or patterns with `*`; none means all. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly isGentle: boolean;
}

/**
 * The checks that a user wants.
 *
 * @throws WrongUsage when a pattern fits no clause at all
 */
export function selectChecks(checks: readonly Check[], selection: Selection): readonly Check[] {
  for (const given of [...selection.only, ...selection.skip]) {
    const fits = matcher(given);
    if (!checks.some(({ id }) => fits(id)))
      throw new WrongUsage(`no clause is called ${JSON.stringify(given)}`);
  }
  const only = selection.only.map(matcher);
  const skip = selection.skip.map(matcher);
  const selected = checks.filter(
    ({ id, profile, isGentle }) =>
      (selection.profile === "full" || profile === "seed") &&
      (isGentle || !selection.isGentle) &&
      (only.length === 0 || only.some((fits) => fits(id))) &&
      !skip.some((fits) => fits(id)),
  );
  if (selected.length === 0)
    throw new WrongUsage("no clause is left to check: see --profile, --only, --skip, --gentle");
  return selected;
}

/** `rank` fits `rank` and `rank.order`; `*.order` fits what ends so. */
function matcher(pattern: string): (id: string) => boolean {
  if (!pattern.includes("*"))
    return (id) => id === pattern || id.startsWith(`${pattern.replace(/\.$/, "")}.`);
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const expression = new RegExp(`^${parts.join(".*")}$`);
  return (id) => expression.test(id);
}
