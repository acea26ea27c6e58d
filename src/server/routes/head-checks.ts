import type { IncomingMessage } from "node:http";
import type { Contract, Route } from "../../contract/call.ts";
import { ServiceError } from "../../errors.ts";
import { type KeyHolder, KeyRing } from "../../keys/key-ring.ts";
import { tooLarge } from "../wire/bodies.ts";
import { announcesMoreThan, headerValues } from "../wire/messages.ts";

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

/**
 * Identifies the sender of a request by its key.
 *
 * @param takesBareKey whether the header may hold the key alone, without `Bearer `
 * @throws ServiceError KEY_MISSING or UNAUTHORIZED without a valid key
 */
export type KeyCheck = (request: Pick<IncomingMessage, "rawHeaders">, takesBareKey?: boolean) => KeyHolder;

const BEARER = /^bearer +(.+)$/i;

/**
 * Checks `Authorization: Bearer <key>`. There must be exactly one such header, with one of the keys. The scheme is
 * case-insensitive.
 *
 * Node.js decodes headers as latin1. Encoded as latin1 again, they are the bytes that the caller sent, which must be the key in
 * UTF-8.
 *
 * @param keys a single key, or the ring of all accepted keys
 */
export function createKeyCheck(keys: string | KeyRing): KeyCheck {
  const ring = typeof keys === "string" ? new KeyRing({ apiKey: keys }) : keys;
  return ({ rawHeaders }, takesBareKey = false) => {
    const values = headerValues(rawHeaders, "authorization");
    const [value = "", ...others] = values;
    const given = BEARER.exec(value)?.[1] ?? (takesBareKey ? value : "");
    const holder = ring.find(Buffer.from(given, "latin1"));
    if (holder !== undefined && given !== "" && others.length === 0) return holder;
    const [kind, got] =
      values.length === 0 ? (["KEY_MISSING", "none"] as const) : (["UNAUTHORIZED", "another"] as const);
    throw new ServiceError(kind, `Expected a valid key, as \`Authorization: Bearer <key>\`, got ${got}.`);
  };
}
