import type { Document } from "openapi-backend";
import { viewerOf } from "../json/views.ts";
import { aliasesOf } from "./aliases.ts";
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
