import type { Document } from "openapi-backend";
import type { Route } from "./call.ts";

const METHODS = { get: "GET", post: "POST" } as const;

/** A route with what only the contract itself uses. */
export interface ContractRoute extends Route {
  /** The schema of the JSON body, undefined without one. */
  readonly bodySchema: unknown;
}

/**
 * The operations of a document.
 *
 * @param basePath prefix of every path; "" for the root
 * @throws Error if an operation has no operationId
 */
export function readRoutes(document: Document, basePath = ""): readonly ContractRoute[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    (["get", "post"] as const).flatMap((method) => {
      const operation = item?.[method];
      if (operation === undefined) return [];
      const body = operation.requestBody;
      if (body !== undefined && "$ref" in body) throw new Error(`${path}: the body must be given in place`);
      if (operation.operationId === undefined) throw new Error(`${path}: an operation has no operationId`);
      return {
        method: METHODS[method],
        path: `${basePath}${path}`,
        operationId: operation.operationId,
        hasBody: body !== undefined,
        needsKey: (operation.security ?? document.security ?? []).some(
          (scheme) => Object.keys(scheme).length > 0,
        ),
        bodySchema: body?.content["application/json"]?.schema,
      };
    }),
  );
}
