import { type Issue, invalidRequest, type Location, ServiceError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import type { OperationId } from "./call.ts";

/** Other name of a body's member to the contract's name. */
type Aliases = ReadonlyMap<string, string>;

/**
 * The contract says these in prose only: a schema with alternatives, or with optional members of any JSON, keeps
 * client generators from working.
 */
const ALIASES: { readonly [Id in OperationId]?: Aliases } = {
  rank: new Map([
    ["context", "state"],
    ["answers", "candidates"],
  ]),
};

const NO_ALIASES: Aliases = new Map();

export interface CanonicalBody {
  /** Members under the contract's names, in the order sent. */
  readonly body: JsonObject;
  /** The contract's name to the other name that the request used. */
  readonly usedNames: ReadonlyMap<string, string>;
}

/**
 * Renames a body's members to the names of the contract.
 *
 * An alias that is null beside its member counts as missing, since generated Java clients write every optional
 * member; a member that is null beside a given alias is a second value, since null is a legal state.
 * @throws ServiceError INVALID_REQUEST with an `alias_conflict` for each member given under both names
 */
export function resolveAliases(operationId: OperationId, body: JsonObject): CanonicalBody {
  const aliases = ALIASES[operationId] ?? NO_ALIASES;
  // The usual case, and for hostile bodies of 200,000 members one copy less.
  if (![...aliases.keys()].some((alias) => body.has(alias))) return { body, usedNames: NO_ALIASES };
  const members = new Map<string, JsonValue>();
  const usedNames = new Map<string, string>();
  const conflicts: Issue[] = [];
  for (const [name, value] of body) {
    const canonical = aliases.get(name);
    if (canonical === undefined) {
      members.set(name, value);
    } else if (!body.has(canonical)) {
      members.set(canonical, value);
      usedNames.set(canonical, name);
    } else if (value !== null) {
      conflicts.push(conflict(name, canonical));
    }
  }
  if (conflicts.length > 0) throw invalidRequest(conflicts);
  return { body: members, usedNames };
}

/** The error with the names that the request used in its locations; anything but an INVALID_REQUEST as it is. */
export function withUsedNames(error: unknown, usedNames: ReadonlyMap<string, string>): unknown {
  if (usedNames.size === 0 || !(error instanceof ServiceError) || error.kind !== "INVALID_REQUEST")
    return error;
  const issues = error.issues.map((issue) => ({ ...issue, loc: renamed(issue.loc, usedNames) }));
  return new ServiceError(error.kind, error.message, { cause: error, issues });
}

function renamed([body = "body", name, ...rest]: Location, usedNames: ReadonlyMap<string, string>): Location {
  if (name === undefined) return [body];
  return [body, (typeof name === "string" ? usedNames.get(name) : undefined) ?? name, ...rest];
}

function conflict(alias: string, canonical: string): Issue {
  const msg = `Expected either "${canonical}" or its other name "${alias}", got both.`;
  return { loc: ["body", alias], msg, type: "alias_conflict" };
}
