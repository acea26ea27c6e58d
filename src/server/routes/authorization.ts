import type { IncomingMessage } from "node:http";
import { ServiceError } from "../../errors.ts";
import { type KeyHolder, KeyRing } from "../../keys/key-ring.ts";
import { headerValues } from "../wire/headers.ts";

/**
 * Who has sent a request.
 *
 * @param takesBareKey whether the header may hold the key alone, without `Bearer `
 * @throws ServiceError KEY_MISSING or UNAUTHORIZED unless it carries a key
 */
export type KeyCheck = (request: Pick<IncomingMessage, "rawHeaders">, takesBareKey?: boolean) => KeyHolder;

const BEARER = /^bearer +(.+)$/i;

/**
 * The check of `Authorization: Bearer <key>`: the scheme in any case, exactly one header with exactly one of the keys.
 *
 * Node decodes header bytes as latin1: read back as
 * latin1 they are the bytes that the caller sent, and the key's are its UTF-8.
 *
 * @param keys the one key, or those that are accepted now
 */
export function createKeyCheck(keys: string | KeyRing): KeyCheck {
  const ring = typeof keys === "string" ? new KeyRing({ apiKey: keys }) : keys;
  return ({ rawHeaders }, takesBareKey = false) => {
    const values = headerValues(rawHeaders, "authorization");
    const [value = "", ...others] = values;
    const given = BEARER.exec(value)?.[1] ?? (takesBareKey ? value : "");
    const holder = ring.find(Buffer.from(given, "latin1"));
    if (holder !== undefined && given !== "" && others.length === 0) return holder;
    throw new ServiceError(
      values.length === 0 ? "KEY_MISSING" : "UNAUTHORIZED",
      "A valid key is required: send it as `Authorization: Bearer <key>`.",
    );
  };
}
