import type { IncomingMessage } from "node:http";
import type { Contract, Route } from "../../contract/call.ts";
import type { KeyHolder } from "../../keys/key-ring.ts";
import { tooLarge } from "../wire/body.ts";
import { announcesMoreThan, headerValues } from "../wire/headers.ts";
import type { KeyCheck } from "./authorization.ts";

export interface HeadCheckOptions {
  readonly contract: Contract;
  /** Undefined: no key is configured, nothing is checked. */
  readonly checkKey: KeyCheck | undefined;
  readonly maxBodyBytes: number;
}

/**
 * What a request's headers alone tell, in the order of the contract.
 *
 * @returns whose key it came with, where one is needed
 * @throws ServiceError UNAUTHORIZED | INVALID_REQUEST (media type) | BODY_TOO_LARGE (announced)
 */
export function checkHead(
  request: IncomingMessage,
  { needsKey, hasBody }: Pick<Route, "needsKey" | "hasBody">,
  { contract, checkKey, maxBodyBytes }: HeadCheckOptions,
): KeyHolder | undefined {
  const holder = needsKey ? checkKey?.(request) : undefined;
  if (!hasBody) return holder;
  const contentType = headerValues(request.rawHeaders, "content-type");
  contract.checkMediaType({ ...request.headers, "content-type": contentType });
  if (announcesMoreThan(maxBodyBytes, request)) throw tooLarge(maxBodyBytes);
  return holder;
}
