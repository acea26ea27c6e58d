import type { Document } from "openapi-backend";
import { type Location, ServiceError } from "../errors.ts";
import type { Aliases } from "../json/aliases.ts";
import { viewerOf } from "../json/views.ts";
import { isRecord } from "../records.ts";
import type { BodyForm } from "./bodies/body.ts";
import type { Route } from "./call.ts";
import type { ContractRules } from "./dialect.ts";

const METHODS = { get: "GET", post: "POST" } as const;

/** A route with what only the contract itself uses. */
export interface ContractRoute extends Route {
  /** How the body is read; undefined without one. */
  readonly form: BodyForm | undefined;
}

/**
 * The operations of a document.
 *
 * @param rules of a dialect
 * @throws Error if an operation has no operationId
 */
export function readRoutes(
  document: Document,
  { basePath = "", aliases = {} }: Partial<ContractRules> = {},
): readonly ContractRoute[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    (["get", "post"] as const).flatMap((method) => {
      const operation = item?.[method];
      if (operation === undefined) return [];
      const body = operation.requestBody;
      if (body !== undefined && "$ref" in body) throw new Error(`${path}: the body must be given in place`);
      const { operationId } = operation;
      if (operationId === undefined) throw new Error(`${path}: an operation has no operationId`);
      return {
        method: METHODS[method],
        path: `${basePath}${path}`,
        operationId,
        hasBody: body !== undefined,
        needsKey: (operation.security ?? document.security ?? []).some(
          (scheme) => Object.keys(scheme).length > 0,
        ),
        form: body && {
          view: viewerOf(body.content["application/json"]?.schema, document),
          aliases: aliases[operationId] ?? aliasesOf(operationId),
        },
      };
    }),
  );
}

/**
 * A copy of the document, adapted to ajv.
 *
 * - Without `mapping` of discriminators, which client generators need but ajv refuses. The one-value enums have the
 *   same effect.
 * - With `type: object` in unions, because ajv applies a discriminator to objects only and accepts any other value.
 * - With a union of types as one schema of all their keywords, each of which applies to one type: so an error concerns
 *   the type that was sent, not every member.
 * - Without `security`, because the server checks keys before the body is read.
 */
export function forAjv(document: Document): Document {
  return adapted(document) as Document; // the same shape
}

function adapted(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(adapted);
  if (!isRecord(node)) return node;
  const copy = Object.fromEntries(
    Object.entries(node)
      .filter(([name]) => name !== "security")
      .map(([name, value]) => [name, adapted(value)]),
  );
  if (isRecord(node.discriminator))
    return { ...copy, type: "object", discriminator: { propertyName: node.discriminator.propertyName } };
  return { ...copy, ...unionOfTypes(copy) };
}

/** The members of a union of different types, as one schema. */
function unionOfTypes({ oneOf }: Readonly<Record<string, unknown>>): object {
  if (!Array.isArray(oneOf)) return {};
  const types = oneOf.map((member) => member.type);
  if (new Set(types).size < types.length || types.includes(undefined)) return {};
  return { ...Object.assign({}, ...oneOf), oneOf: undefined, type: types };
}

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
