import type { Issue, Location } from "../errors.ts";

/** Alias -> name of the member. */
export type Aliases = ReadonlyMap<string, string>;

export interface ResolvedAliases<T> {
  /** Members by name, in the order sent. */
  readonly members: ReadonlyMap<string, T>;
  /** Name -> alias, for members that were sent under their alias. */
  readonly usedNames: ReadonlyMap<string, string>;
  /** One alias_conflict per member that was sent under both names. */
  readonly conflicts: readonly Issue[];
}

/**
 * Replaces aliases by the names of their members.
 *
 *     name        alias        result
 *     missing     given        the alias's value, even if null
 *     given       missing      the name's value, even if null
 *     given       null         the name's value: generated Java clients send every optional member
 *     given       not null     a conflict, even if the name's value is null
 *
 * @param loc location of the object
 */
export function resolveAliases<T>(
  sent: ReadonlyMap<string, T>,
  aliases: Aliases,
  loc: Location,
): ResolvedAliases<T> {
  const members = new Map<string, T>();
  const usedNames = new Map<string, string>();
  const conflicts: Issue[] = [];
  // the usual case; saves a copy of large objects
  if (![...aliases.keys()].some((alias) => sent.has(alias))) return { members: sent, usedNames, conflicts };
  for (const [name, value] of sent) {
    const own = aliases.get(name);
    if (own === undefined) {
      members.set(name, value);
    } else if (!sent.has(own)) {
      members.set(own, value);
      usedNames.set(own, name);
    } else if (value !== null) {
      const msg = `Expected either "${own}" or its alias "${name}", got both.`;
      conflicts.push({ loc: [...loc, name], msg, type: "alias_conflict" });
    }
  }
  return { members, usedNames, conflicts };
}
