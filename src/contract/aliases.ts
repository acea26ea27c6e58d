import { type Location, ServiceError } from "../errors.ts";
import type { Aliases } from "../json/aliases.ts";

const NO_ALIASES: Aliases = new Map();

/**
 * The contract says these in prose only: a schema with alternatives, or with optional members of any JSON, keeps
 * client generators from working.
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

/** The error with the names that the request used in its locations; anything but an INVALID_REQUEST as it is. */
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
