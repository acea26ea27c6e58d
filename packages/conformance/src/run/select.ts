import { WrongUsage } from "../client/target.ts";
import type { Check } from "../trial/check.ts";
import type { Profile } from "../trial/clause.ts";

interface Selection {
  readonly profile: Profile;
  /** Ids, prefixes, or patterns with `*`. Empty: all. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly isGentle: boolean;
  /** `2/4` is the second of four parts; undefined for all. */
  readonly shard: string | undefined;
}

/**
 * Selects checks.
 *
 * @throws WrongUsage if a pattern matches no clause or no clause is left
 */
export function selectChecks(checks: readonly Check[], selection: Selection): readonly Check[] {
  for (const given of [...selection.only, ...selection.skip]) {
    const fits = matcher(given);
    if (!checks.some(({ id }) => fits(id)))
      throw new WrongUsage(`there is no clause ${JSON.stringify(given)}`);
  }
  const only = selection.only.map(matcher);
  const skip = selection.skip.map(matcher);
  const selected = checks.filter(
    ({ id, profile, isGentle }) =>
      (profile === selection.profile || (selection.profile === "full" && profile === "seed")) &&
      (isGentle || !selection.isGentle) &&
      (only.length === 0 || only.some((fits) => fits(id))) &&
      !skip.some((fits) => fits(id)),
  );
  if (selected.length === 0)
    throw new WrongUsage("no clause is left to check: see --profile, --only, --skip, --gentle");
  if (selection.shard === undefined) return selected;
  const { index, count } = readShard(selection.shard);
  const part = selected.filter((_, at) => at % count === index - 1);
  if (part.length === 0)
    throw new WrongUsage(`no clause is left in part ${selection.shard}: there are ${selected.length}`);
  return part;
}

/** Parses a shard. Clauses go to the shards in turn, so that slow ones are spread. */
function readShard(shard: string): { readonly index: number; readonly count: number } {
  const [, index = 0, count = 0] = (/^(\d{1,4})\/(\d{1,4})$/.exec(shard) ?? []).map(Number);
  if (index < 1 || index > count)
    throw new WrongUsage(
      `a shard: expected a part like 2/4 (the second of four), got ${JSON.stringify(shard)}`,
    );
  return { index, count };
}

/** `rank` matches `rank` and `rank.order`; `*.order` matches ids with that ending. */
function matcher(pattern: string): (id: string) => boolean {
  if (!pattern.includes("*"))
    return (id) => id === pattern || id.startsWith(`${pattern.replace(/\.$/, "")}.`);
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const expression = new RegExp(`^${parts.join(".*")}$`);
  return (id) => expression.test(id);
}
