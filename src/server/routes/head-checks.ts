import type { IncomingMessage } from "node:http";
import type { Contract, Route } from "../../contract/call.ts";
import type { KeyHolder } from "../../keys/key-ring.ts";
import { tooLarge } from "../wire/body.ts";
import { announcesMoreThan, headerValues } from "../wire/headers.ts";
import type { KeyCheck } from "./authorization.ts";

export interface HeadCheckOptions {
  readonly contract: Contract;
  /** Undefined if no key is configured; then none is checked. */
  readonly checkKey: KeyCheck | undefined;
  readonly maxBodyBytes: number;
  /** Operations that also accept the key without `Bearer `. */
  readonly bareKeys?: readonly string[] | undefined;
}

/**
 * All checks that need only a request's headers, in the order of the contract.
 *
 * @returns the holder of the request's key, if the operation needs a key
 * @throws ServiceError KEY_MISSING | UNAUTHORIZED | INVALID_REQUEST (media type) | BODY_TOO_LARGE (announced)
 */
export function checkHead(
  request: IncomingMessage,
  { operationId, needsKey, hasBody }: Pick<Route, "operationId" | "needsKey" | "hasBody">,
  { contract, checkKey, maxBodyBytes, bareKeys }: HeadCheckOptions,
): KeyHolder | undefined {
  const holder = needsKey ? checkKey?.(request, bareKeys?.includes(operationId)) : undefined;
  if (!hasBody) return holder;
  contract.checkMediaType({
    "content-type": headerValues(request.rawHeaders, "content-type"),
    "content-encoding": request.headers["content-encoding"],
  });
  if (announcesMoreThan(maxBodyBytes, request)) throw tooLarge(maxBodyBytes);
  return holder;
}
