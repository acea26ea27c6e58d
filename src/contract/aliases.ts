import { type Location, ServiceError } from "../errors.ts";
import type { Aliases } from "../json/aliases.ts";

const NO_ALIASES: Aliases = new Map();

/**
 * Other names of members. The contract describes them only in prose, because client generators cannot handle schemas
 * with alternatives or with optional members of any JSON type.
 */
const OF_RANKINGS: Aliases = new Map([
  ["context", "state"],
  ["answers", "candidates"],
]);
const ALIASES: Readonly<Record<string, Aliases>> = { rank: OF_RANKINGS, explain: OF_RANKINGS };

/** Other names of the members of an operation's body. */
export function aliasesOf(operationId: string): Aliases {
  return ALIASES[operationId] ?? NO_ALIASES;
}

/**
 * The error, with locations that use the names of the request. Errors other than INVALID_REQUEST are returned
 * unchanged.
 */
export function withUsedNames(error: unknown, usedNames: ReadonlyMap<string, string>): unknown {
  if (usedNames.size === 0 || !(error instanceof ServiceError) || error.kind !== "INVALID_REQUEST")
    return error;
  const issues = error.issues.map((issue) => ({ ...issue, loc: renamed(issue.loc, usedNames) }));
  return new ServiceError(error.kind, error.message, { cause: error, issues });
}

/** The second step of a location is the name of a member of the body. */
function renamed(loc: Location, usedNames: ReadonlyMap<string, string>): Location {
  return loc.map((step, at) => (at === 1 && typeof step === "string" && usedNames.get(step)) || step);
}
